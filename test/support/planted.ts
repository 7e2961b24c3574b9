/** Named values that a test gave the service or got from it; tests look for them where they must not be. */
export class Planted {
  readonly #values = new Map<string, string>();

  /** Throws for a value that is missing, or too short to be distinguished from other text. */
  keep(values: Record<string, string | undefined>): void {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined || value.length < 8) {
        throw new Error(`“${name}” is no value to look for: ${value}`);
      }
      this.#values.set(name, value);
    }
  }

  get names(): string[] {
    return [...this.#values.keys()];
  }

  /** All of them, as one text. */
  get text(): string {
    return [...this.#values.values()].join(' ');
  }

  /** The names of the values in a text: plain, by their end (tokens of a kind begin alike), or encoded. */
  seenIn(text: string): string[] {
    return [...this.#values].flatMap(([name, value]) => {
      const part = value.length > 40 ? value.slice(-32) : value;
      const forms = [part, encodeURIComponent(part), ...encoded(value)];
      return forms.some((form) => text.includes(form)) ? [name] : [];
    });
  }
}

/** Without the last characters of base64, which depend on the next bytes. */
function encoded(value: string): string[] {
  const bytes = Buffer.from(value);
  const base64 = bytes.subarray(0, bytes.length - (bytes.length % 3));
  return [bytes.toString('hex'), base64.toString('base64'), base64.toString('base64url')];
}
