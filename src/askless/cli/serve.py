"""`askless serve`: the interview as a web page, an HTTP API and FHIR adaptive questionnaires."""

from __future__ import annotations

import argparse
import os

from askless.cli.parser import Commands, text_help

__all__ = ["add", "run"]

DESCRIPTION = """\
Serve saved models: a page that leads an interview, an HTTP API, and FHIR adaptive questionnaires ($next-question).

It listens on this machine only. Any other address needs a token in the environment variable ASKLESS_TOKEN.
Interviews live in memory, unless --keep names a file for them. Needs the packages of askless[serve]."""
EPILOG = """\
examples:
  askless serve m.askless                                     then open http://127.0.0.1:8000
  askless serve m.askless --features features.json --keep interviews.db
  ASKLESS_TOKEN=... askless serve a.askless b.askless --host 0.0.0.0 --allow-host ask.example.org

features.json:  {"age": {"text": "How old is the patient?", "unit": "a", "loinc": "30525-0", "low": 0, "high": 120}}

Every option but --features is an environment variable, too: ASKLESS_HOST, ASKLESS_PORT, ASKLESS_ALLOWED_HOSTS
(with commas), ASKLESS_BASE_URL, ASKLESS_KEEP, ASKLESS_RETENTION_DAYS, ASKLESS_RATE_LIMIT."""


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser("serve", help="a web page, an HTTP API and FHIR", **text_help(DESCRIPTION, EPILOG))
    add = parser.add_argument
    add("models", nargs="+", metavar="model", help="model files; each is served under its name")
    add("--host", help="the address to listen on (default: 127.0.0.1)")
    add("--port", type=int, help="the port (default: 8000)")
    add("--allow-host", action="append", metavar="NAME", help="a name under which the service is called")
    add("--base-url", metavar="URL", help="how others reach it, such as https://ask.example.org")
    add("--features", metavar="JSON", help="wording, units (UCUM), codes (LOINC) and valid ranges of features; what "
        "it says wins over what the models keep from askless fit --features")  # fmt: skip
    add("--keep", metavar="FILE", help="keep interviews in this SQLite file")
    add("--retention-days", type=float, metavar="DAYS", help="delete an interview that was not touched for so long "
        "(default: 30)")  # fmt: skip
    add("--rate-limit", type=float, metavar="N", help="requests a second from one address (default: any number)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Serve until Ctrl-C."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # one small product at a time: threads only cost
        os.environ.setdefault(variable, "1")
    try:
        from askless.service.server import serve
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is not installed: pip install 'askless[serve]'", name=error.name
        ) from None
    from askless.service.models import read_models
    from askless.service.settings import Settings

    settings = Settings.read(
        host=args.host,
        port=args.port,
        allowed_hosts=None if args.allow_host is None else tuple(args.allow_host),
        base_url=args.base_url,
        keep=args.keep,
        retention_days=args.retention_days,
        rate_limit=args.rate_limit,
    )
    serve(read_models(args.models, args.features), settings)
