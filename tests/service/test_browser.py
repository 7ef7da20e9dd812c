"""The real page in a real browser: Debian's chromium, or the one that ASKLESS_CHROMIUM names."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.service.conftest import running

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("ASKLESS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium (apt-get install chromium)")

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 860}
PICTURES = os.environ.get("ASKLESS_PICTURES")  # a folder, to write the screenshots of docs/service.md


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium, request):
    """A page whose console must stay silent."""
    options = {"viewport": DESKTOP, "color_scheme": "light", **getattr(request, "param", {})}
    context = chromium.new_context(**options)
    page = context.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda asked: said.append(asked.url) if "127.0.0.1" not in asked.url else None)
    yield page
    expected = "Failed to load resource: the server responded with a status of 422"
    assert [text for text in said if expected not in text] == []
    context.close()


def begin(page, service):
    page.goto(f"{service.url}/models/triage")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/interviews/*")


def title(page):
    return page.locator("main h1").inner_text()


def moved(page, act):
    """Act, and wait until the interview's count of events has changed."""
    before = page.locator("input[name=events]").first.get_attribute("value")
    act()
    page.wait_for_function("b => document.querySelector('input[name=events]')?.value != b", arg=before)


def answer(page):
    """Any answer that fits."""
    tiles = page.locator("button.tile")
    if tiles.count():
        moved(page, lambda: tiles.nth(0).click())
        return
    inputs = page.locator("main input[type=text]")
    for i in range(inputs.count()):
        low, high = re.search(r"from ([\d.]+) to ([\d.]+)\.$", page.locator(f"#part-{i}-hint").inner_text()).groups()
        inputs.nth(i).fill(str(round((float(low) + float(high)) / 2, 1)))
    moved(page, lambda: page.get_by_role("button", name="Answer", exact=True).click())


def to_question(page, text):
    for _ in range(20):
        if title(page) == text:
            return
        moved(page, lambda: page.get_by_role("button", name="Later").click())
    raise AssertionError(f"{text} is never asked")


def picture(page, name):
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


SIZES = {
    "desktop": {"viewport": DESKTOP},
    "phone": {"viewport": PHONE, "has_touch": True},
    "phone-dark": {"viewport": PHONE, "color_scheme": "dark"},
    "without-script": {"viewport": DESKTOP, "java_script_enabled": False},
}


@pytest.mark.parametrize(
    ("page", "name"), [(SIZES[name], name) for name in ("desktop", "phone", "phone-dark")], indirect=["page"]
)
def test_a_whole_interview(page, service, name):
    begin(page, service)
    assert fits(page)
    count = 0
    while not page.locator(".done").count():
        answer(page)
        count += 1
        assert fits(page)
        if count == 3:
            picture(page, f"service-{name}")
    assert count == 6
    assert "asked 6 features" in page.locator(".done").inner_text()
    if name == "desktop":
        picture(page, "service-result")
    page.get_by_role("link", name="Summary to print").click()
    page.wait_for_url("**/summary")
    assert page.locator(".answers tbody tr").count() == 6
    assert fits(page)


def test_undo_unknown_and_a_bad_number(page, service):
    begin(page, service)
    to_question(page, "How old is the patient?")
    page.locator("#part-0").fill("a hundred")
    page.get_by_role("button", name="Answer", exact=True).click()
    page.wait_for_selector("[aria-invalid=true]")
    assert "a number from 0 to 120" in page.locator("[role=alert]").inner_text()
    assert page.locator("#part-0").input_value() == "a hundred"
    assert page.evaluate("document.activeElement.id") == "part-0"
    page.locator("#part-0").fill("51")
    moved(page, lambda: page.keyboard.press("Enter"))
    assert "51 years" in page.locator(".history").inner_text()
    second = title(page)
    moved(page, lambda: page.get_by_role("button", name="Don’t know").click())
    assert "not known" in page.locator(".history").inner_text()
    assert title(page) != second
    moved(page, lambda: page.get_by_role("button", name="Back", exact=True).click())
    assert title(page) == second
    assert "not known" not in page.locator(".history").inner_text()


def test_by_keyboard_alone(page, service):
    begin(page, service)
    to_question(page, "What is the main complaint?")
    assert page.evaluate("document.activeElement.tagName") == "H1"  # where a screen reader goes on
    moved(page, lambda: page.keyboard.press("2"))
    assert "chest pain" in page.locator(".history").inner_text()
    assert page.locator("#said").inner_text() or page.locator("#said").text_content()


def test_every_input_has_a_name(page, service):
    begin(page, service)
    to_question(page, "Blood pressure")
    assert page.get_by_label("Systolic").count() == 1
    assert page.get_by_label("Diastolic").count() == 1
    assert page.locator("main h1").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("page", [SIZES["without-script"]], indirect=True)
def test_without_script(page, service):
    begin(page, service)
    first = title(page)
    page.get_by_role("button", name="Don’t know").click()
    assert title(page) != first
    page.get_by_role("button", name="Back", exact=True).click()
    assert title(page) == first


def test_resumed_after_a_restart(page, models, tmp_path):
    keep = str(tmp_path / "kept.db")
    with running(models, keep=keep) as service:
        begin(page, service)
        answer(page)
        address, question = page.url, title(page)
    with running(models, keep=keep) as service:
        page.goto(service.url + address.partition("interviews")[1].join(["/", address.partition("interviews")[2]]))
        assert title(page) == question
        answer(page)


@pytest.mark.parametrize("page", [SIZES["desktop"], SIZES["phone"], SIZES["without-script"]], indirect=True)
def test_an_entry_from_an_outdated_page_is_explained(page, service):
    begin(page, service)
    address = page.url
    interview = address.rpartition("/")[2]
    service.client.post(f"/api/interviews/{interview}/tell", json={"feature": "age", "value": 51})
    page.get_by_role("button", name="Don’t know").click()
    page.wait_for_selector(".notice")
    assert "Your last entry was not saved" in page.get_by_role("alert").inner_text()
    assert fits(page)
    page.reload()
    assert title(page)
    assert service.client.get(f"/api/interviews/{interview}").json()["events"] == 1
    page.goto(address)
    assert page.locator(".notice").count() == 0


@pytest.mark.parametrize("page", [SIZES["desktop"], SIZES["phone"]], indirect=True)
def test_a_corrected_answer_is_struck_below_the_final_one(page, service):
    begin(page, service)
    interview = page.url.rpartition("/")[2]
    for value in (51, 52):
        service.client.post(f"/api/interviews/{interview}/tell", json={"feature": "age", "value": value})
    for address in (page.url, f"{page.url}/summary"):
        page.goto(address)
        final, replaced = page.locator(".answers").get_by_text("52 years"), page.locator(".answers del")
        assert "line-through" in replaced.evaluate("e => getComputedStyle(e).textDecorationLine")
        assert replaced.text_content() == "replaced: 51 years"
        assert final.bounding_box()["y"] < replaced.bounding_box()["y"]
        assert fits(page)
