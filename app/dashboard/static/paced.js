// Work that may be asked for often: what is asked within a quarter of a second is done once, and a server that takes
// long over it is left alone for four times as long.

const WITHIN_MS = 250;
const AGAIN_MS = 5000; // after it has failed, which it says by returning false

export function paced(work) {
  let rest = WITHIN_MS;
  let isWaiting = false, isBusy = false, isAsked = false;

  async function turn() {
    [isWaiting, isBusy, isAsked] = [false, true, false];
    const began = performance.now();
    const hasFailed = await work() === false;
    rest = Math.max(WITHIN_MS, 4 * (performance.now() - began));
    isBusy = false;
    if (hasFailed) setTimeout(ask, AGAIN_MS);
    else if (isAsked) ask();
  }

  function ask() {
    isAsked = true;
    if (isWaiting || isBusy) return;
    isWaiting = true;
    setTimeout(turn, rest);
  }

  return ask;
}
