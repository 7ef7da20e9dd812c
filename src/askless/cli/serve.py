"""`askless serve`: interviews as a web page, an HTTP API and FHIR adaptive questionnaires."""

from __future__ import annotations

import argparse
import os

from askless.cli.parser import Commands, UsageError, text_help

__all__ = ["add", "run"]

PACKAGES = "fastapi httptools jinja2 orjson prometheus-client uvicorn"
INSTALL = f"pip install {PACKAGES} (or, in a checkout, pip install '.[serve]')"
DESCRIPTION = f"""\
Serve interviews with saved models: a web page, an HTTP API and FHIR adaptive questionnaires ($next-question).

By default the service listens on this machine only. Any other address needs a token in the environment variable
ASKLESS_TOKEN. Interviews are kept in memory, or in a file with --keep. The service needs more packages:
{INSTALL}"""
EPILOG = """\
examples:
  askless serve m.askless                                     then open http://127.0.0.1:8000
  askless serve m.askless --features features.json --keep interviews.db
  ASKLESS_TOKEN=... askless serve a.askless b.askless --host 0.0.0.0 --allow-host ask.example.org

features.json:  {"age": {"text": "How old is the patient?", "unit": "a", "loinc": "30525-0", "low": 0, "high": 120}}

Environment variables set the same options, except --features: ASKLESS_HOST, ASKLESS_PORT, ASKLESS_ALLOWED_HOSTS
(separated by commas), ASKLESS_BASE_URL, ASKLESS_KEEP, ASKLESS_RETENTION_DAYS, ASKLESS_RATE_LIMIT."""


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "serve", help="interviews as a web page, an HTTP API and FHIR", **text_help(DESCRIPTION, EPILOG)
    )
    add = parser.add_argument
    add("models", nargs="+", metavar="model", help="model files of `askless fit`; each is served under its file name")
    add("--host", help="the address to listen on (default: 127.0.0.1)")
    add("--port", type=int, help="the port (default: 8000)")
    add(
        "--allow-host",
        action="append",
        metavar="NAME",
        help="another host name of the service",
    )
    add("--base-url", metavar="URL", help="the public address, such as https://ask.example.org")
    add("--features", metavar="JSON", help="wording, units (UCUM), codes (LOINC) and valid ranges of features; it "
        "overrides that of `askless fit --features`")  # fmt: skip
    add("--keep", metavar="FILE", help="keep interviews in this SQLite file (default: in memory)")
    add("--retention-days", type=float, metavar="DAYS", help="delete interviews without activity for this many days "
        "(default: 30)")  # fmt: skip
    add("--rate-limit", type=float, metavar="N", help="requests per second from one address (default: no limit)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Serve until Ctrl-C."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # threads do not help with small matrix products
        os.environ.setdefault(variable, "1")
    try:
        from askless.service.server import serve
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "askless":
            raise
        message = f"askless serve needs the package {error.name}, which is not installed: {INSTALL}"
        raise UsageError("missing_package", message, package=error.name) from None
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
