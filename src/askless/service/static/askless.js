// Sends forms with data-swap in the background and replaces the main part of the page.
// The forms also work without this script.
"use strict";

const said = () => document.getElementById("said");

function show(html, url) {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const field of page.querySelectorAll("[autofocus]")) {
    field.removeAttribute("autofocus"); // the browser focuses it on a new page only
    field.dataset.focus = "yes";
  }
  for (const part of ["main", "header.top"]) {
    document.querySelector(part).replaceWith(page.querySelector(part));
  }
  document.title = page.title;
  if (url) history.replaceState(null, "", new URL(url).pathname); // a reload does not repeat the notice
  const wrong = document.querySelector("[aria-invalid]");
  const field = document.querySelector("main [data-focus]");
  (wrong || field || document.querySelector("main h1")).focus();
  window.scrollTo(0, 0);
  const target = document.querySelector(".prediction .target");
  said().textContent = wrong ? "" : `${document.querySelector("main h1").textContent}. ${target ? target.textContent : ""}`;
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.hasAttribute("data-swap")) return;
  event.preventDefault();
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  const body = new URLSearchParams(new FormData(form));
  const button = event.submitter;
  if (button && button.name) body.set(button.name, button.value);
  try {
    const answer = await fetch(form.action, { method: "POST", body });
    show(await answer.text(), answer.redirected ? answer.url : null);
  } catch {
    delete form.dataset.busy;
    said().textContent = "The service cannot be reached. Try again.";
    said().classList.add("alarm");
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) window.print();
});

// The keys 1 to 9 press the choices of a question, unless a choice is itself a number.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const tiles = [...document.querySelectorAll("button.tile")];
  if (tiles.some((tile) => /^-?\d+$/.test(tile.textContent.trim()))) return;
  if (/^[1-9]$/.test(event.key) && tiles[event.key - 1]) tiles[event.key - 1].click();
});
