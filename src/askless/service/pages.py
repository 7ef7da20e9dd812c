"""The page: server-rendered, plain forms. The small script beside it only saves reloading."""

from __future__ import annotations

import datetime
import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from askless.core.events import last_said
from askless.service.answers import value_of_text
from askless.service.asking import Terms
from askless.service.bodies import body_of
from askless.service.errors import Problem, invalid, not_found
from askless.service.interviews import Interviews, Live
from askless.service.models import Models, ServedModel
from askless.service.security import COOKIE, session_of, token_fits
from askless.service.settings import Settings
from askless.service.store import Event
from askless.service.views import earlier_entries, fields_of, interview_view

__all__ = ["Pages", "error_page", "page_routes"]

HERE = Path(__file__).parent
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = {path.name: path.read_bytes() for path in sorted((HERE / "static").iterdir()) if path.suffix in TYPES}
VERSION = hashlib.sha256(b"".join(FILES.values())).hexdigest()[:12]


class Pages:
    """The templates."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self._templates.globals["version"] = VERSION

    def show(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page."""
        return HTMLResponse(self._templates.get_template(template).render(**values), status)


PAGES = Pages()


def error_page(problem: Problem) -> HTMLResponse:
    """A problem, for a person; without the token it is the page on which to give it."""
    template = "sign_in.html" if problem.status == 401 else "error.html"
    page = PAGES.show(template, problem.status, problem=problem, failed=False)
    page.headers.update(problem.headers)
    return page


def page_routes(models: Models, interviews: Interviews, settings: Settings) -> APIRouter:
    """Everything a browser shows."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def home(request: Request) -> Response:
        if len(models) == 1:
            return _start(next(iter(models)))
        return PAGES.show("models.html", models=list(models))

    @router.get("/models/{model}")
    async def start(request: Request) -> Response:
        return _start(models.find(request.path_params["model"]))

    @router.post("/models/{model}/interviews")
    async def create(request: Request) -> Response:
        live = await interviews.create(models.find(request.path_params["model"]), Terms())
        return _to(live.id)

    @router.get("/interviews/{interview}")
    async def read(request: Request) -> Response:
        return _question(await interviews.find(_id(request)))

    @router.get("/interviews/{interview}/summary")
    async def summary(request: Request) -> Response:
        live = await interviews.find(_id(request))
        begun = datetime.datetime.fromtimestamp(live.created, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
        return PAGES.show("summary.html", view=interview_view(live), begun=begun, kept=settings.keep is not None)

    @router.get("/interviews/{interview}/tell")
    async def choose(request: Request) -> Response:
        live = await interviews.find(_id(request))
        if "feature" not in request.query_params:
            shown: dict[str, Any] = {"index": None, "fields": [], "features": _features(live), "stale": False}
            return PAGES.show("tell.html", view=interview_view(live), **shown)
        return _tell(live, _index(live.model, request.query_params["feature"]))

    @router.post("/interviews/{interview}/tell")
    async def tell(request: Request) -> Response:
        return await _told(interviews, request)

    @router.post("/interviews/{interview}/delete")
    async def delete(request: Request) -> Response:
        await interviews.delete(_id(request))
        return PAGES.show("deleted.html")

    @router.post("/interviews/{interview}/{action}")
    async def change(request: Request) -> Response:
        return await _change(interviews, request)

    @router.post("/sign-in")
    async def sign_in(request: Request) -> Response:
        form = _form(request)
        if settings.token is None or not token_fits(form.get("token", "").encode(), settings.token):
            return PAGES.show("sign_in.html", 401, failed=True)
        response = RedirectResponse("/", 303)
        response.set_cookie(
            COOKIE, session_of(settings.token), httponly=True, samesite="strict", max_age=12 * 3600,
            secure=settings.root.startswith("https:"),
        )  # fmt: skip
        return response

    @router.get("/static/{file}")
    async def static(request: Request) -> Response:
        name = request.path_params["file"]
        if name not in FILES:
            raise not_found("there is no such file")
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(FILES[name], media_type=TYPES[Path(name).suffix], headers=headers)

    return router


async def _told(interviews: Interviews, request: Request) -> Response:
    """Tell, then the page of the interview again.

    A page that is not the latest brings nothing back: a group's form has all parts of before. It is shown again.
    """
    live, form = await interviews.find(_id(request)), _form(request)
    index, events = _index(live.model, form.get("feature", "")), live.events
    name = live.model.schema.features[index].name
    value, errors = _value(live.model, index, form)
    if form.get("events") not in (None, str(events)):
        twice = not errors and value == last_said(live.talk.history, name)  # nothing is left to be told
        return _to(live.id) if twice else _stale(live, index)
    if errors:
        return _tell(live, index, form, errors, 422)
    try:
        await interviews.change(live.id, Event("tell", name, value), events)
    except Problem:
        live = await interviews.find(live.id)
        if live.events == events:
            raise
        return _stale(live, index)
    return _to(live.id)


async def _change(interviews: Interviews, request: Request) -> Response:
    """Answer, unknown, later or undo; then the page of the interview again."""
    action = request.path_params["action"]
    if action not in ("answer", "unknown", "later", "undo"):
        raise not_found("there is nothing at this address")
    live, form = await interviews.find(_id(request)), _form(request)
    question, events = live.talk.question, live.events
    stale = form.get("events") not in (None, str(events))  # sent twice, or from a page that is not the latest
    if stale or (question is None and action != "undo"):
        return _to(live.id)
    event = Event(action)
    if action == "answer" and question is not None:
        index = live.model.schema.index(question.name)
        value, errors = _value(live.model, index, form)
        if errors:
            return _question(live, form, errors, 422)
        event = Event("answer", question.name, value)
    try:
        await interviews.change(live.id, event, events)
    except Problem as problem:
        if problem.status != 409:
            raise
    return _to(live.id)


def _value(model: ServedModel, index: int, form: dict[str, str]) -> tuple[Any, dict[str, str]]:
    """What a form says about a feature, and what is wrong with it, by field."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    parts = model.parts[index]
    for i, part in enumerate(parts):
        name = f"part-{i}"
        text = form.get(name, "").strip()
        if not text:
            continue
        if part.kind == "category":  # a choice is named by its place
            choices = part.part.choices or ()
            place = _number(text)
            if place is not None and place < len(choices):
                values[part.name] = choices[place]
            else:
                errors[name] = "Choose one of the list."
            continue
        if part.kind == "boolean":
            text = {"0": "yes", "1": "no"}.get(text, text)
        try:
            values[part.name] = value_of_text(part, text, name)
        except Problem as problem:
            errors[name] = problem.message[0].upper() + problem.message[1:] + "."
    if not values and not errors:
        errors["part-0"] = "Give an answer, or say that you do not know."
    alone = len(parts) == 1
    return values.get(parts[0].name) if alone else values, errors


def _start(model: ServedModel) -> HTMLResponse:
    return PAGES.show("start.html", model=model)


def _question(
    live: Live, form: dict[str, str] | None = None, errors: dict[str, str] | None = None, status: int = 200
) -> HTMLResponse:
    view = interview_view(live)
    fields = [] if view["index"] is None else fields_of(live.model, view["index"], form, errors)
    return PAGES.show("interview.html", status, view=view, fields=fields)


def _tell(
    live: Live,
    index: int,
    form: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
    status: int = 200,
) -> HTMLResponse:
    """The form of a feature: as it was sent, or with what was said before, since a tell replaces all of it."""
    entries = earlier_entries(live.model, live.talk, index) if form is None else form
    shown: dict[str, Any] = {"index": index, "fields": fields_of(live.model, index, entries, errors), "features": []}
    return PAGES.show("tell.html", status, view=interview_view(live), stale=status == 409, **shown)


def _stale(live: Live, index: int) -> HTMLResponse:
    """The form with what is known by now, for one that was opened before."""
    return _tell(live, index, status=409)


def _features(live: Live) -> list[tuple[int, str]]:
    return [(i, live.model.text(i)) for i in range(len(live.model.schema))]


def _index(model: ServedModel, text: str) -> int:
    place = _number(text)
    if place is None or place >= len(model.schema):
        raise invalid("there is no such feature", "feature")
    return place


def _number(text: str) -> int | None:
    """The place that a form names."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _id(request: Request) -> str:
    return str(request.path_params["interview"])


def _to(interview: str) -> RedirectResponse:
    return RedirectResponse(f"/interviews/{interview}", 303)


def _form(request: Request) -> dict[str, str]:
    """The fields of a form; of equal names the last."""
    try:
        text = body_of(request).decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=200))
    except ValueError:
        raise invalid("the form cannot be read") from None
