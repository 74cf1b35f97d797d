// Follows the events of a study: by a stream that goes on where it broke off, or page by page where none can be held.
// It is read here and not by EventSource, which passes by kinds of events that it does not know, and does not notice
// a connection that died in silence: this server speaks every five seconds.

import { clock, sayLive } from "./words.js";

const SILENCE_MS = 15_000;
const POLL_MS = 5000;
const RETRY_MS = 2000;
const STREAM_AGAIN_MS = 60_000; // after it was refused this often:
const MOST_REFUSALS = 2;
const OVER = { 401: "Signed out", 403: "Not allowed any more", 404: "This study is gone" };

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function shown() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true })).then(shown);
}

// `place.after` is the number of the last event that is known here; `tell` is given those that come, and `renew`
// brings the page up to date at once.
export async function follow(address, place, { tell, renew }) {
  let refusals = 0, refusedAt = 0, isLate = false, since = null;

  // Returns whether it could be held, when it has ended.
  async function stream() {
    const cut = new AbortController();
    const hide = () => document.hidden && cut.abort();
    let silence = setTimeout(() => cut.abort(), SILENCE_MS);
    let isHeld = false;
    document.addEventListener("visibilitychange", hide);
    try {
      const headers = { Accept: "text/event-stream", "Last-Event-ID": place.after };
      const answer = await fetch(address, { headers, signal: cut.signal, cache: "no-store" });
      if (!answer.ok || !answer.headers.get("Content-Type")?.startsWith("text/event-stream")) return false;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let left = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return isHeld;
        clearTimeout(silence);
        silence = setTimeout(() => cut.abort(), SILENCE_MS);
        isHeld = true;
        sayLive("live", "Live");
        const frames = (left + value).split("\n\n");
        left = frames.pop();
        receive(frames.map((frame) => /^data: (.*)$/m.exec(frame)).filter(Boolean).map(([, data]) => JSON.parse(data)));
      }
    } catch {
      return isHeld;
    } finally {
      clearTimeout(silence);
      document.removeEventListener("visibilitychange", hide);
    }
  }

  async function page() {
    const answer = await fetch(`${address}?after=${place.after}`, { headers: { Accept: "application/json" } });
    if (answer.status in OVER) return OVER[answer.status];
    if (!answer.ok) throw new Error(answer.status);
    const { events, next } = await answer.json();
    receive(events);
    place.after = Math.max(place.after, next);
    return null;
  }

  function receive(events) {
    if (!events.length) return;
    place.after = Math.max(place.after, events.at(-1).seq);
    tell(events);
  }

  for (;;) {
    if (document.hidden) {
      await shown();
      isLate = true;
    }
    if (isLate) {
      sayLive("late", "Catching up");
      await renew(); // one page, however much has happened
      isLate = false;
    }
    const mayStream = since === null && (refusals < MOST_REFUSALS || performance.now() - refusedAt > STREAM_AGAIN_MS);
    const isHeld = mayStream && await stream();
    if (document.hidden) continue;
    try {
      const over = await page();
      if (over) return sayLive("off", over);
      isLate = since !== null;
      since = null;
      if (isHeld) refusals = 0;
      else if (mayStream) [refusals, refusedAt] = [refusals + 1, performance.now()];
      if (refusals < MOST_REFUSALS) {
        if (isHeld) await pause(RETRY_MS); // it broke off
        continue;
      }
      sayLive("polling", "Polling every 5 s");
      await pause(POLL_MS);
    } catch {
      since ??= new Date();
      sayLive("off", `Offline since ${clock(since)}, retrying`);
      await pause(RETRY_MS);
    }
  }
}
