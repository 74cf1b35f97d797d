// Times as they are in the zone of who looks.

export function tellTimes(within) {
  for (const element of within.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    const isToday = at.toDateString() === new Date().toDateString();
    const day = isToday ? {} : { year: "numeric", month: "2-digit", day: "2-digit" };
    const said = at.toLocaleString("sv-SE", { ...day, hour: "2-digit", minute: "2-digit" });
    element.title = at.toLocaleString();
    element.textContent = said;
  }
}
