// Saves reloading: forms with data-swap are sent in the background, and the page's main part is replaced.
// Without this script the same forms work as ordinary ones.
"use strict";

const said = () => document.getElementById("said");

function show(html, url) {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const field of page.querySelectorAll("[autofocus]")) {
    field.removeAttribute("autofocus"); // the browser does it for a new page only
    field.dataset.focus = "yes";
  }
  for (const part of ["main", "header.top"]) {
    document.querySelector(part).replaceWith(page.querySelector(part));
  }
  document.title = page.title;
  if (url) history.replaceState(null, "", url);
  const wrong = document.querySelector("[aria-invalid]");
  const field = document.querySelector("main [data-focus]");
  (wrong || field || document.querySelector("main h1")).focus();
  window.scrollTo(0, 0);
  const told = document.querySelector(".prediction .target");
  said().textContent = wrong ? "" : `${document.querySelector("main h1").textContent}. ${told ? told.textContent : ""}`;
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

// 1 to 9 press the choices of a question, as in the terminal: not where a choice is a number itself.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const tiles = [...document.querySelectorAll("button.tile")];
  if (tiles.some((tile) => /^-?\d+$/.test(tile.textContent.trim()))) return;
  if (/^[1-9]$/.test(event.key) && tiles[event.key - 1]) tiles[event.key - 1].click();
});
