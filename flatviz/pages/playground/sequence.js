// The cards above the grounds: question, guess, answer, and the way from one to the next.
import { button, element } from "../front/elements.js";
import { CARDS, done } from "./cards.js";

import { childrenOf } from "./ui.js";

/** @import { World } from "./world.js" */

/** The card of now, with the way to the others. */
export class Sequence {
  at = 0;
  guess = "";
  told = false;

  /** @param {World} world */
  constructor(world) {
    this.world = world;
    this.steps = element(
      "div",
      { class: "pg-steps", role: "group", "aria-label": "questions" },
      ...CARDS.map((card, i) => button(`${i + 1} ${card.title}`, card.title, () => this.go(i))),
    );
    this.ask = element("p", { class: "pg-ask" });
    this.guesses = element("div", { class: "pg-guess", role: "group", "aria-label": "your guess" });
    this.answer = element("p", { class: "pg-answer", role: "status" });
    this.next = button("Next →", "the next question", () => this.go(this.at + 1), {
      class: "pg-next",
    });
    const question = element("div", {}, this.steps, this.ask);
    const row = element("div", { class: "pg-choose" }, this.guesses, this.next);
    const reply = element("div", { class: "pg-reply" }, row, this.answer);
    this.node = element("div", { class: "pg-card" }, question, reply);
  }

  /** The card that is shown. */
  get card() {
    return CARDS[this.at];
  }

  /** To a question; its settings are those of the world before the guess. @param {number} at */
  go(at) {
    this.at = at;
    this.guess = "";
    this.told = false;
    this.world.begin(this.card);
    this.show();
  }

  /** Show the card, before a guess. */
  show() {
    const { card } = this;
    [...this.steps.children].forEach((step, i) => {
      if (i === this.at) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    this.ask.textContent = card.ask;
    this.guesses.replaceChildren(
      ...card.guesses.map(([key, text]) =>
        button(text, `guess: ${text}`, () => this.take(key), { "data-guess": key }),
      ),
    );
    this.answer.textContent = "Your guess?";
    this.next.hidden = true;
  }

  /** The reader's guess: the run begins. @param {string} key */
  take(key) {
    this.guess = key;
    this.told = false;
    for (const one of childrenOf(this.guesses))
      one.setAttribute("aria-pressed", String(one.dataset.guess === key));
    this.answer.textContent = "They train …";
    this.world.run(this.card);
    this.tell();
  }

  /** The answer, once the run is over. */
  tell() {
    const { card, world } = this;
    if (!this.guess || this.told || !done(card, world.model)) return;
    this.told = true;
    const right = card.truth(world.model) === this.guess;
    this.answer.replaceChildren(
      element("b", {}, right ? "You guessed right. " : "Not quite. "),
      card.answer(world.model),
    );
    for (const one of childrenOf(this.guesses))
      one.classList.toggle("pg-right", one.dataset.guess === card.truth(world.model));
    this.next.hidden = this.at === CARDS.length - 1;
    if (card.view === "grounds") world.side("test");
  }
}
