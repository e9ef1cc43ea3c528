"use strict";
// The pages work without this. It keeps their times right, brings in what has
// changed, and goes on with logs.

const $ = (id) => document.getElementById(id);
const units = [[3600 * 47.5, 86400, "d"], [60 * 59.5, 3600, "h"], [59.5, 60, "m"], [0, 1, "s"]];

function rough(seconds) {
  const [, size, unit] = units.find(([from]) => seconds >= from);
  return Math.round(seconds / size) + unit;
}

function took(seconds) {
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  if (seconds < 10) return Math.max(0, seconds).toFixed(1) + "s";
  if (seconds < 60) return Math.floor(seconds) + "s";
  if (seconds < 3600) return Math.floor(seconds / 60) + "m" + two(seconds % 60) + "s";
  return Math.floor(seconds / 3600) + "h" + two((seconds / 60) % 60) + "m";
}

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function times() {
  const now = Date.now();
  for (const t of document.querySelectorAll("time[datetime]")) {
    const s = (Date.parse(t.dateTime) - now) / 1000;
    say(t, Math.abs(s) < 1 ? "now" : s < 0 ? rough(-s) + " ago" : "in " + rough(s));
  }
  for (const t of document.querySelectorAll("[data-took]")) {
    if (t.dataset.took) say(t, took((now - Date.parse(t.dataset.took)) / 1000));
  }
}
setInterval(times, 1000);

// Who has followed a link from elsewhere may have signed in already.

const signIn = document.querySelector("[data-again]");
if (signIn) location.replace(signIn.dataset.again);

// What is live is taken from the page as the server makes it anew.

const seen = new Map();
for (const e of document.querySelectorAll("[data-live]")) seen.set(e.id, e.innerHTML);

// path names an element within a region, so that it can be found again.
function path(region, element) {
  const steps = [];
  for (let e = element; e && e !== region; e = e.parentElement) {
    steps.unshift([...e.parentElement.children].indexOf(e));
  }
  return steps;
}

function follow(region, steps) {
  return steps.reduce((e, i) => e && e.children[i], region);
}

function selecting(region) {
  const s = document.getSelection();
  return s && !s.isCollapsed && region.contains(s.anchorNode);
}

// paint gives the tasks of a graph their new states and leaves the rest alone,
// so that it stays where it was scrolled to.
function paint(old, fresh) {
  const before = old.querySelectorAll(".node"), now = fresh.querySelectorAll(".node");
  if (before.length !== now.length) return false;
  for (let i = 0; i < now.length; i++) {
    if (before[i].dataset.id !== now[i].dataset.id) return false;
  }
  for (let i = 0; i < now.length; i++) {
    const link = before[i].parentElement.localName === "a", linked = now[i].parentElement.localName === "a";
    if (link !== linked) {
      (link ? before[i].parentElement : before[i]).replaceWith(document.importNode(linked ? now[i].parentElement : now[i], true));
      continue;
    }
    if (before[i].outerHTML !== now[i].outerHTML) before[i].replaceWith(document.importNode(now[i], true));
  }
  return true;
}

function take(doc) {
  for (const fresh of doc.querySelectorAll("[data-live]")) {
    const old = $(fresh.id), html = fresh.innerHTML;
    if (!old || seen.get(fresh.id) === html || selecting(old)) continue;
    seen.set(fresh.id, html);
    if (fresh.dataset.live === "graph" && paint(old, fresh)) continue;
    const focused = old.contains(document.activeElement) && old !== document.activeElement ? path(old, document.activeElement) : null;
    const open = [...old.querySelectorAll("details[open]")].map((d) => d.id);
    const boxes = [...old.querySelectorAll(".gridbox")].map((b) => [b.scrollLeft, b.scrollTop]);
    old.replaceChildren(...[...fresh.childNodes].map((n) => document.importNode(n, true)));
    for (const id of open) if ($(id)) $(id).open = true;
    old.querySelectorAll(".gridbox").forEach((b, i) => boxes[i] && b.scrollTo(...boxes[i]));
    const again = focused && follow(old, focused);
    if (again && again.focus) again.focus({ preventScroll: true });
  }
  document.title = doc.title;
  if (!doc.body.hasAttribute("data-busy")) document.body.removeAttribute("data-busy");
  else document.body.setAttribute("data-busy", "");
  times();
}

let waiting = 0, fetching = false, again = false;

function refresh() {
  if (fetching) {
    again = true;
    return;
  }
  if (waiting || document.hidden) return;
  waiting = setTimeout(async () => {
    waiting = 0;
    fetching = true;
    const from = performance.now();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.redirected) location.reload();
      else if (answer.ok) take(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      // the stream says when the server is there again
    }
    // A page that is costly to make is asked for less often.
    setTimeout(() => {
      fetching = false;
      if (again) {
        again = false;
        refresh();
      }
    }, Math.min(5000, 250 + 10 * (performance.now() - from)));
  }, 100);
}

function state(live) {
  const mark = $("live");
  if (!mark) return;
  mark.classList.toggle("on", live);
  mark.classList.toggle("off", !live);
  say(mark, live ? "live" : "no connection");
}

function colour(task) {
  const node = document.querySelector(`#graph .node[data-id="${CSS.escape(task.id)}"]`);
  if (node) node.setAttribute("class", "node " + task.state);
}

function listen() {
  const url = new URL(document.body.dataset.events, location.href);
  url.searchParams.set("since", document.body.dataset.since);
  const events = new EventSource(url);
  const run = location.pathname.startsWith("/runs/");
  events.addEventListener("open", () => state(true));
  events.addEventListener("error", () => state(false));
  events.addEventListener("run", (e) => {
    if (run) JSON.parse(e.data).tasks.forEach(colour);
    refresh();
  });
  for (const kind of ["workflows", "reset"]) events.addEventListener(kind, refresh);
  window.addEventListener("pagehide", () => events.close());
  window.addEventListener("pageshow", (e) => e.persisted && location.reload());
  document.addEventListener("visibilitychange", refresh);
  // Runs of other processes on this data folder send no events.
  setInterval(() => document.body.hasAttribute("data-busy") && refresh(), 10000);
}
if (document.body.dataset.events) listen();

// A graph that is larger than its box begins where something is wrong or goes on.
const worth = document.querySelector("#graph .node.failed") || document.querySelector("#graph .node.running");
if (worth) {
  const box = $("graph"), at = worth.getBoundingClientRect(), around = box.getBoundingClientRect();
  box.scrollTo(at.x - around.x - (around.width - at.width) / 2, at.y - around.y - (around.height - at.height) / 2);
}

// What is asked on a page of its own is asked in place.
document.addEventListener("click", (e) => {
  const ask = e.target.closest("[data-ask]"), close = e.target.closest("dialog [data-close]");
  const box = ask && $(ask.dataset.ask);
  if (close) {
    e.preventDefault();
    close.closest("dialog").close();
  } else if (box && box.showModal && !e.ctrlKey && !e.metaKey) {
    e.preventDefault();
    box.showModal();
  }
});

// Who closes it is back at the button, which may be another one by now: the page
// has been brought up to date meanwhile.
document.addEventListener("close", (e) => document.querySelector(`[data-ask="${e.target.id}"]`)?.focus(), true);

document.addEventListener("keydown", (e) => {
  const search = document.querySelector("input[type=search]");
  if (e.key === "/" && search && !/^(input|textarea|select)$/i.test(e.target.tagName)) {
    e.preventDefault();
    search.focus();
  }
});

// Logs: only the lines that somebody looks at are here.

const logMost = 5000;

async function lines(log, query) {
  const answer = await fetch(log.dataset.lines.replace("?", "/lines?") + "&" + query);
  if (!answer.ok) throw new Error(answer.statusText);
  const doc = new DOMParser().parseFromString("<ol>" + (await answer.text()) + "</ol>", "text/html");
  return {
    items: [...doc.querySelectorAll("ol > li")].map((li) => document.importNode(li, true)),
    next: Number(answer.headers.get("Ax-Next")),
    total: Number(answer.headers.get("Ax-Total")),
    live: answer.headers.get("Ax-Live") === "true",
  };
}

function numberOf(li) {
  return li ? Number(li.id.slice(1)) : 0;
}

function atEnd() {
  return window.innerHeight + window.scrollY > document.documentElement.scrollHeight - 80;
}

// tail goes on with a log that is being written. The last line may still grow,
// so it is asked for again.
async function tail(log) {
  let pause = 300;
  try {
    const stay = !atEnd(), last = log.lastElementChild;
    const got = await lines(log, "from=" + Math.max(1, numberOf(last)));
    const same = got.items.length === 1 && last && got.items[0].outerHTML === last.outerHTML;
    if (got.items.length && !same) {
      if (last && got.items[0].id === last.id) last.remove();
      log.append(...got.items);
      while (log.children.length > logMost) log.firstElementChild.remove();
      if (!stay) window.scrollTo(0, document.documentElement.scrollHeight);
    } else {
      pause = 1000;
    }
    if (got.next <= got.total) pause = 0;
    if (!got.live && pause === 1000) {
      ended();
      return;
    }
  } catch {
    pause = 3000;
  }
  setTimeout(tail, pause, log);
}

async function ended() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  const mark = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("log-state");
  if (mark) $("log-state").replaceWith(document.importNode(mark, true));
}

const log = $("log");
if (log) {
  const asked = new URLSearchParams(location.search);
  if (!location.hash && !asked.has("from") && !asked.has("line")) window.scrollTo(0, document.documentElement.scrollHeight);
  if (log.hasAttribute("data-live-log")) tail(log);
  const earlier = $("earlier");
  if (earlier) {
    earlier.addEventListener("click", async (e) => {
      e.preventDefault();
      const first = log.firstElementChild, top = first.getBoundingClientRect().top;
      const got = await lines(log, "before=" + numberOf(first));
      log.prepend(...got.items);
      window.scrollBy(0, first.getBoundingClientRect().top - top);
      if (numberOf(log.firstElementChild) <= 1) earlier.parentElement.remove();
    });
  }
}
