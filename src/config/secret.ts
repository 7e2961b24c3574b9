import { inspect } from 'node:util';

const MASK = '[secret]';

/** A value that cannot be printed by accident: logs, JSON, templates and inspection all show a mask. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The one way to the value; a search for `.reveal()` finds every use. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
