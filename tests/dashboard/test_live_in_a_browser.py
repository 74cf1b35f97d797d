"""Pages that follow what happens, and change it, in Chromium before a real server."""

import re

import httpx
import pytest

from app.dashboard import static_files
from tests.conftest import address_of, wait_until
from tests.dashboard.conftest import SPACE, every_figure

LIVE = "#live:text-is('Live')"


WORDS = """() => { window.words = []; new MutationObserver(() => {
  const word = document.getElementById('live').textContent;
  if (word !== words.at(-1)) words.push(word);
}).observe(document.getElementById('live'), {childList: true}); }"""
HIDE = """isHidden => {
  Object.defineProperty(document, 'hidden', {value: isHidden, configurable: true});
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def add(address, study="s", **config):
    trial = {"config": {"lr": 0.5, "hidden": 60} | config, "outcome": {"value": 0.25}}
    httpx.post(f"{address}/api/v1/studies/{study}/trials", json={"trials": [trial]}).raise_for_status()


def rows(page):
    return page.eval_on_selector_all("#trials tbody tr", "rows => rows.map(row => row.dataset.key)")


def tops(page):
    return page.eval_on_selector_all("#trials tbody tr", "rows => rows.map(row => row.offsetTop)")


def test_two_tabs_are_live_and_a_form_in_one_changes_both(served, see):
    one, other = see(f"{served}/studies/s"), see(f"{served}/studies/s", 390)
    for page in (one, other):
        page.wait_for_selector(LIVE)
    other.click("summary:has-text('Notes')")
    other.keyboard.type("half a thou")

    see.refusal = "status of 422"  # which the browser tells too
    one.click("summary:has-text('Extend')")
    one.fill("#extend-max_trials", "1")
    one.keyboard.press("Enter")
    refusal = "#do-extend .wrong:has-text('2 trials are numbered already')"
    one.wait_for_selector(refusal)
    httpx.patch(f"{served}/api/v1/studies/s", json={"tags": ["renewed"]}).raise_for_status()
    one.wait_for_selector("#head .title:has-text('#renewed')")
    assert one.is_visible(refusal)
    assert one.input_value("#extend-max_trials") == "1"
    one.fill("#extend-max_trials", "70")
    one.keyboard.press("Enter")

    for page in (one, other):
        page.wait_for_selector("#head:has-text('13 of 82')")
    assert one.locator("#do-extend[open]").count() == 0
    assert one.evaluate("document.activeElement.textContent") == "Extend"
    other.keyboard.type("ght")
    assert other.input_value("#note-notes") == "half a thought"
    other.keyboard.press("Enter")
    other.click("#do-note button")
    one.wait_for_selector("#head p:has-text('half a thought')")


def test_new_trials_wait_for_a_press_and_what_is_shown_changes_in_place(served, see):
    page = see(f"{served}/studies/s")
    page.wait_for_selector(LIVE)
    before, places = rows(page), tops(page)
    assert page.locator("tr[data-key='13'] .running").count() == 1

    for hidden in (61, 62, 63):
        add(served, hidden=hidden)
    httpx.patch(f"{served}/api/v1/studies/s/trials/13", json={"state": "cancelled"}).raise_for_status()

    page.wait_for_selector("button:text-is('3 new trials')")
    page.wait_for_selector("tr[data-key='13'] .cancelled")
    page.wait_for_selector("#best:has-text('0.25')")
    assert (rows(page), tops(page)) == (before, places)
    assert page.get_attribute(f"tr[data-key='{before[-1]}']", "class") == "stale"

    page.click("button:text-is('3 new trials')")
    wait_until(lambda: rows(page) == [str(number) for number in range(16, 4, -1)])
    assert page.locator("button[data-insert]").count() == 0
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Trials"


def test_the_first_result_brings_the_figures_and_loses_nothing_typed(server, see):
    spec = {"name": "new", "task": "t", "space": SPACE, "max_trials": 9}
    httpx.post(f"{server.url}/api/v1/studies", json=spec).raise_for_status()
    page = see(f"{server.url}/studies/new")
    page.wait_for_selector(LIVE)
    page.evaluate("window.mine = true")
    page.click("summary:has-text('Add trials')")
    page.keyboard.type("half a con")

    add(server.url, "new")

    page.wait_for_selector("[data-figure=history]")
    page.keyboard.type("fig")
    every_figure(page)
    assert page.input_value("#enqueue-configs") == "half a config"
    assert page.evaluate("window.mine")  # it was not loaded again


def test_a_page_that_nobody_sees_asks_for_nothing_and_catches_up_when_it_is_seen(served, see):
    page = see(f"{served}/studies/s")
    page.wait_for_selector(LIVE)
    asked, ended = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: ended.append(request.url))

    page.evaluate(HIDE, True)
    wait_until(lambda: page.evaluate("1") and ended == [f"{served}/api/v1/studies/s/events"])
    add(served)
    page.wait_for_timeout(1500)  # a stream would have told it by now
    assert asked == []
    page.evaluate(WORDS)
    page.evaluate(HIDE, False)

    page.wait_for_selector("#best:has-text('0.25')")
    page.wait_for_selector(LIVE)
    assert page.evaluate("window.words") == ["Catching up", "Live"]
    assert asked.count(f"{served}/studies/s") == 1  # however much has happened


MODULE = "async ([address, name]) => { window.module = await import(new URL(name, address).href); }"
MORPHED = """(seed) => {
  let state = seed;
  const draw = most => { state = (state * 1103515245 + 12345) % 2147483648; return state % most; };
  const grow = depth => {
    const node = document.createElement(["p", "div", "span", "a", "li"][draw(5)]);
    if (draw(3) === 0) node.dataset.key = draw(4);
    if (draw(3) === 0) node.className = `c${draw(3)}`;
    if (draw(4) === 0) node.hidden = true;
    for (let left = draw(5); left > 0; left -= 1) {
      node.append(depth && draw(2) ? grow(depth - 1) : document.createTextNode(`t${draw(3)}`));
    }
    return node;
  };
  for (let turn = 0; turn < 2000; turn += 1) {
    const [old, next] = [document.createElement("main"), document.createElement("main")];
    for (const root of [old, next]) root.append(grow(3));
    const wanted = next.cloneNode(true);
    window.module.morph(old, next);
    if (!old.isEqualNode(wanted)) return [old.outerHTML, wanted.outerHTML];
  }
  return null;
}"""
PACED = """async () => {
  let turns = 0, isBusy = false, hasOverlapped = false;
  const ask = window.module.paced(async () => {
    hasOverlapped ||= isBusy;
    isBusy = true;
    turns += 1;
    if (turns === 1) for (let at = 0; at < 100; at += 1) ask(); // while it is under way
    await new Promise(resolve => setTimeout(resolve, 10));
    isBusy = false;
  });
  for (let at = 0; at < 100; at += 1) ask();
  await new Promise(resolve => setTimeout(resolve, 1500));
  return [turns, hasOverlapped];
}"""


def test_what_has_come_is_made_exactly_and_what_is_asked_often_is_done_once(server, see):
    page = see(f"{server.url}/docs")
    script = f"{server.url}/{static_files.address('page.js')}"

    page.evaluate(MODULE, [script, "morph.js"])
    assert page.evaluate(MORPHED, 1) is None
    page.evaluate(MODULE, [script, "paced.js"])
    assert page.evaluate(PACED) == [2, False]


@pytest.fixture
def restartable(database, programs):
    """A server, and what kills it and starts another at its address."""
    first = programs("serve", "--database", database, "--port", "0")
    address = address_of(first)
    running = [first]

    def kill():
        running[-1].kill()
        running[-1].wait()

    def start():
        running.append(programs("serve", "--database", database, "--port", address.rpartition(":")[2]))
        address_of(running[-1])

    return address, kill, start


def test_a_page_recovers_when_the_server_comes_back(restartable, chromium):
    address, kill, start = restartable
    spec = {"name": "s", "task": "t", "space": SPACE, "max_trials": 9}
    httpx.post(f"{address}/api/v1/studies", json=spec).raise_for_status()
    add(address)
    page = chromium.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if "ERR_" not in said.text else None)
    page.goto(f"{address}/studies/s")
    page.wait_for_selector(LIVE)
    page.evaluate(WORDS)

    kill()
    page.wait_for_selector("#live:has-text('Offline since')")
    page.click("button:text-is('Pause')")
    page.wait_for_selector("#do-p .wrong:has-text('The server does not answer')")
    start()
    page.wait_for_selector(LIVE)
    add(address, hidden=61)

    page.wait_for_selector("#head:has-text('2 of 11')")
    page.click("button:text-is('Pause')")
    page.wait_for_selector("#head .paused")
    [offline, *others] = page.evaluate("window.words")  # of this page: it was not loaded again
    assert re.fullmatch(r"Offline since \d\d:\d\d, retrying", offline)
    assert others == ["Catching up", "Live"]
    assert errors == []
    page.close()


def test_where_no_stream_can_be_held_the_page_polls_and_old_figures_say_so(served, see):
    see.refusal = "status of 503"
    page = see("about:blank")

    def refuse(route):
        if "event-stream" in route.request.headers["accept"]:
            route.fulfill(status=503, body="full")
        else:
            route.continue_()

    page.route("**/events*", refuse)
    page.goto(f"{served}/studies/s")
    page.wait_for_selector("#live:text-is('Polling every 5 s')")
    page.wait_for_selector(".of-history .main-svg")
    problem = {"status": 503, "json": {"detail": "The database is away."}}
    page.route("**/figures/history*", lambda route: route.fulfill(**problem))

    add(served)

    page.wait_for_selector("#best:has-text('0.25')")
    page.wait_for_selector(".of-history .old:has-text('The database is away.')")
    assert page.inner_text(".of-history .old").startswith("as of ")
    assert page.locator(".of-history .main-svg").count() > 0  # the last good one


def test_a_study_is_paused_and_resumed_by_keys_alone(served, see):
    page = see(f"{served}/studies/s")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.wait_for_selector(LIVE)
    press = page.keyboard.press

    press("p")
    assert page.inner_text("#asks h2") == "Pause this study?"
    press("Escape")
    press("p")
    press("Enter")
    page.wait_for_selector("#head .paused")
    press("p")
    assert page.inner_text("#asks h2") == "Resume this study?"
    press("Enter")
    page.wait_for_selector("#head .active")

    press("c")
    page.wait_for_selector("#said:text-is('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == '{"lr": 0.1, "hidden": 5}'
    press("j")
    press("j")
    press("k")
    press("j")
    page.focus("tr[data-key='12'] a")
    press("?")
    assert page.locator("#keys[open]").count() == 1
    press("p")  # not while the map is open
    assert page.locator("#asks[open]").count() == 0
    press("Escape")
    press("Enter")  # the focus is back at the row
    page.wait_for_url("**/studies/s/trials/12")
    press("]")
    page.wait_for_url("**/studies/s/trials/13")
    press("[")
    page.wait_for_url("**/studies/s/trials/12")
    page.click("summary:has-text('Notes')")
    page.keyboard.type("p[?")
    assert page.input_value("#note-notes") == "p[?"
    press("Escape")
    press("g")
    press("s")
    page.wait_for_url(f"{served}/")


def test_single_keys_are_switched_off_and_stay_so(served, see):
    page = see(f"{served}/studies/s")
    page.keyboard.press("?")
    page.keyboard.press("Shift+Tab")  # from the button to the switch
    page.keyboard.press("Space")
    page.keyboard.press("Escape")

    for _ in range(2):
        page.keyboard.press("p")
        page.keyboard.press("?")
        assert page.locator("dialog[open]").count() == 0
        page.reload()
    page.click("#keyboard")  # which stays, to switch them on again
    assert not page.is_checked("#keys-on")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "keyboard"


def test_without_scripts_forms_change_a_study_and_say_what_is_wrong(served, chromium):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(f"{served}/studies/s")

    page.click("button:text-is('Pause')")
    assert page.locator("#head .paused").count() == 1
    page.click("button:text-is('Resume')")
    page.click("summary:has-text('Add trials')")
    page.fill("#enqueue-configs", '{"lr": 7, "hidden": 3}')
    page.click("#do-enqueue button")
    assert "dimension 'lr' cannot be 7" in page.inner_text("#do-enqueue .wrong")
    page.fill("#enqueue-configs", page.input_value("#enqueue-configs").replace("7", "0.5"))
    page.click("#do-enqueue button")

    assert page.url == f"{served}/studies/s/trials/14"
    assert page.locator("#keyboard:visible").count() == 0
    page.context.close()
