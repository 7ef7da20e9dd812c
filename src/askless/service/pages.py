"""The web page: server-rendered with plain forms. The script only avoids reloading the page."""

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

from askless.acquisition.interview import last_said
from askless.encoding.cells import is_unknown
from askless.service.answers import accepts, value_of_text
from askless.service.asking import Terms
from askless.service.bodies import body_of
from askless.service.errors import Problem, conflict, invalid, not_found
from askless.service.interviews import MOST_EVENTS, Interviews, Live
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
CHANGED = "Your last entry was not saved: the interview has changed since, perhaps in another window."
NOTICES = {  # by code: why a form changed nothing; shown after the redirect
    "question_changed": CHANGED,
    "interview_changed": CHANGED,
    "interview_done": "Your last entry was not saved: the interview is already complete.",
    "nothing_to_undo": "There is no entry to take back.",
    "too_many_events": f"Your last entry was not saved: an interview can have {MOST_EVENTS:,} entries at most. "
    "Please begin a new interview.",
}


class Pages:
    """Renders the templates."""

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
    """The page of a problem. For a missing token it is the page to sign in."""
    template = "sign_in.html" if problem.status == 401 else "error.html"
    page = PAGES.show(template, problem.status, problem=problem, failed=False)
    page.headers.update(problem.headers)
    return page


def page_routes(models: Models, interviews: Interviews, settings: Settings) -> APIRouter:
    """The routes of the page."""
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
        live = await interviews.find(_id(request))
        return _question(live, notice=NOTICES.get(request.query_params.get("notice", "")))

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
    """Add or correct an answer, then redirect to the interview.

    A form from an outdated page is not saved but shown again: it would bring back old values of a group's parts.
    """
    live, form = await interviews.find(_id(request)), _form(request)
    index, events = _index(live.model, form.get("feature", "")), live.events
    name = live.model.schema.features[index].name
    value, errors = _value(live.model, index, form)
    if form.get("events") not in (None, str(events)):
        twice = not errors and value == last_said(live.interview.history, name)  # a double click
        return _to(live.id) if twice else _stale(live, index)
    if errors:
        return _tell(live, index, form, errors, 422)
    try:
        await interviews.change(live.id, Event("tell", name, value), events)
    except Problem as problem:
        if problem.status != 409:
            raise
        live = await interviews.find(live.id)
        return _to(live.id, problem) if live.events == events else _stale(live, index)
    return _to(live.id)


async def _change(interviews: Interviews, request: Request) -> Response:
    """Answer, unknown, later or undo, then redirect to the interview."""
    action = request.path_params["action"]
    if action not in ("answer", "unknown", "later", "undo"):
        raise not_found("there is nothing at this address")
    live, form = await interviews.find(_id(request)), _form(request)
    question, events = live.interview.question, live.events
    try:
        if form.get("events") not in (None, str(events)):
            raise conflict("the form is from an outdated page", code="interview_changed")
        if question is None and action != "undo":
            raise conflict("the interview is done", code="interview_done")
        event = Event(action)
        if action == "answer" and question is not None:
            index = live.model.schema.index(question.name)
            value, errors = _value(live.model, index, form, hint=" If it is unknown, choose “Don’t know”.")
            if errors:
                return _question(live, form, errors, 422)
            event = Event("answer", question.name, value)
        await interviews.change(live.id, event, events)
    except Problem as problem:
        if problem.status != 409:
            raise
        live = await interviews.find(live.id)
        return _to(live.id, None if _is_repetition(live, action, form) else problem)
    return _to(live.id)


def _is_repetition(live: Live, action: str, form: dict[str, str]) -> bool:
    """Whether the form repeats the last change, as a double click does."""
    last = live.last
    if last is None or last.action != action or form.get("events") != str(live.events - 1):
        return False
    if action != "answer" or last.feature is None:
        return True
    value, errors = _value(live.model, live.model.schema.index(last.feature), form)
    return not errors and value == last.value


def _value(model: ServedModel, index: int, form: dict[str, str], hint: str = "") -> tuple[Any, dict[str, str]]:
    """The answer in a form, and error messages by field."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    parts = model.parts[index]
    for i, part in enumerate(parts):
        name = f"part-{i}"
        text = form.get(name, "").strip()
        if not text or (part.kind != "category" and is_unknown(text)):
            continue
        if part.kind == "category":  # the form has the position of the choice
            choices = part.part.choices or ()
            place = _number(text)
            if place is not None and place < len(choices):
                values[part.name] = choices[place]
            else:
                errors[name] = "Choose one of the answers in the list."
            continue
        try:
            values[part.name] = value_of_text(part, text, name)
        except Problem:
            errors[name] = "Choose yes or no." if part.kind == "boolean" else f"Enter {accepts(part)}."
    if not values and not errors:
        errors["part-0"] = f"Enter an answer.{hint}"
    alone = len(parts) == 1
    return values.get(parts[0].name) if alone else values, errors


def _start(model: ServedModel) -> HTMLResponse:
    return PAGES.show("start.html", model=model)


def _question(
    live: Live,
    form: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
    status: int = 200,
    notice: str | None = None,
) -> HTMLResponse:
    view = interview_view(live)
    fields = [] if view["index"] is None else fields_of(live.model, view["index"], form, errors)
    return PAGES.show("interview.html", status, view=view, fields=fields, notice=notice)


def _tell(
    live: Live,
    index: int,
    form: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
    status: int = 200,
) -> HTMLResponse:
    """The form of a feature, as it was sent or filled with the current answer, which it will replace."""
    entries = earlier_entries(live.model, live.interview, index) if form is None else form
    shown: dict[str, Any] = {"index": index, "fields": fields_of(live.model, index, entries, errors), "features": []}
    return PAGES.show("tell.html", status, view=interview_view(live), stale=status == 409, **shown)


def _stale(live: Live, index: int) -> HTMLResponse:
    """The form with the current answer, in place of one from an outdated page."""
    return _tell(live, index, status=409)


def _features(live: Live) -> list[tuple[int, str]]:
    return [(i, live.model.text(i)) for i in range(len(live.model.schema))]


def _index(model: ServedModel, text: str) -> int:
    place = _number(text)
    if place is None or place >= len(model.schema):
        raise invalid("there is no such question", "feature", code="unknown_name", name="feature")
    return place


def _number(text: str) -> int | None:
    """The position in a field of a form."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _id(request: Request) -> str:
    return str(request.path_params["interview"])


def _to(interview_id: str, problem: Problem | None = None) -> RedirectResponse:
    """Redirect to the interview, which then shows the notice for the problem."""
    notice = "" if problem is None else f"?notice={problem.code}"
    return RedirectResponse(f"/interviews/{interview_id}{notice}", 303)


def _form(request: Request) -> dict[str, str]:
    """The fields of a form; the last of equal names."""
    try:
        text = body_of(request).decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=200))
    except ValueError:
        raise invalid("the form cannot be read", code="bad_request") from None
