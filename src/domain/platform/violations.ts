import { ErrorCode, type FieldViolation, invalidField, ServiceError } from '../../errors/service-error.js';
import { isLonger } from '../characters.js';
import { LATEST_MS } from '../clock.js';
import { ANY_CONTROL } from '../control-characters.js';
import { isEmailAddress, isStandIn } from './people/email-addresses.js';

/** Characters that make addresses look alike. */
const UNSEEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/u;
const BEYOND_ASCII = /\P{ASCII}/u;

/** Collects all faults of a request, to report them together. */
export class Violations {
  readonly #found: FieldViolation[] = [];

  add(path: string, message: string): void {
    this.#found.push({ path, message });
  }

  requiredText(path: string, text: string | undefined, maxLength = MAX_NAME_LENGTH): void {
    if (text === undefined || text.trim() === '') {
      this.add(path, 'must not be empty');
    } else {
      this.optionalText(path, text, maxLength);
    }
  }

  /** A text of an update: undefined keeps it, null (where the type has it) clears it; empty is refused. */
  givenText(path: string, text: string | null | undefined, maxLength = MAX_NAME_LENGTH): void {
    if (text !== undefined && text !== null) {
      this.requiredText(path, text, maxLength);
    }
  }

  /** A text that may be absent or empty. Blanks around it do not count: it is stored without them. */
  optionalText(path: string, given: string | undefined, maxLength: number): void {
    const text = given?.trim();
    if (text === undefined) {
      return;
    }
    if (isLonger(text, maxLength)) {
      this.add(path, `must not be longer than ${maxLength} characters`);
    }
    if (ANY_CONTROL.test(text)) {
      this.add(path, 'must not contain control characters');
    }
  }

  /** Returns the items to check further: none of a list that is too long. */
  listOfAtMost<Item>(most: number, path: string, items: readonly Item[]): readonly Item[] {
    if (items.length > most) {
      this.add(path, `must not have more than ${most} items`);
      return [];
    }
    return items;
  }

  /** Checks a list of required texts. Returns those within the limit, for further checks. */
  requiredTexts(most: number, path: string, texts: readonly string[]): readonly string[] {
    const checked = this.listOfAtMost(most, path, texts);
    for (const [index, text] of checked.entries()) {
      this.requiredText(`${path}[${index}]`, text);
    }
    return checked;
  }

  /** Reports the fault of each item that has one. */
  items<Item>(path: string, items: readonly Item[], faultOf: (item: Item) => string | undefined): void {
    for (const [index, item] of items.entries()) {
      const fault = faultOf(item);
      if (fault !== undefined) {
        this.add(`${path}[${index}]`, fault);
      }
    }
  }

  /** Reports each item that repeats an earlier one. */
  distinctItems(path: string, items: readonly string[]): void {
    const seen = new Set<string>();
    for (const [index, item] of items.entries()) {
      if (seen.has(item)) {
        this.add(`${path}[${index}]`, 'must not repeat an earlier item');
      }
      seen.add(item);
    }
  }

  /** The two times of a filter. */
  span(since: number | undefined, until: number | undefined): void {
    for (const [path, time] of Object.entries({ since, until })) {
      // Written so that NaN is refused too: a time that JavaScript cannot represent.
      if (time !== undefined && !(Math.abs(time) <= LATEST_MS)) {
        this.add(path, 'must be a time in the years 1 to 9999');
      }
    }
    if (since !== undefined && until !== undefined && since >= until) {
      this.add('until', 'must be later than since');
    }
  }

  /** Of what the request is about; undefined where the request has no such field. */
  requiredId(path: string, id: string | undefined): void {
    if (id === '') {
      this.add(path, 'must not be empty');
    }
  }

  email(path: string, text: string | undefined): void {
    if (text === undefined || text === '') {
      this.add(path, 'must not be empty');
    } else if (!isEmailAddress(text)) {
      this.add(path, emailFault(text));
    } else if (isStandIn(text)) {
      this.add(
        path,
        'must be an address that mail reaches; this one stands for an erased address, or for one from before the rule',
      );
    }
  }

  throwIfAny(code = ErrorCode.INVALID_REQUEST, message = INVALID): void {
    if (this.#found.length > 0) {
      throw new ServiceError(code, message, { fieldViolations: this.#found });
    }
  }
}

const INVALID = 'The request is invalid; the fields say why.';

/** Refuses a request for a single fault. */
export function invalidRequest(path: string, message: string): ServiceError {
  return invalidField(INVALID, path, message);
}

function emailFault(text: string): string {
  if (UNSEEN.test(text)) {
    return 'must not contain invisible characters';
  }
  return BEYOND_ASCII.test(text)
    ? 'must be an e-mail address in ASCII; write an international domain in Punycode, such as xn--bcher-kva.example'
    : 'must be an e-mail address';
}

export const MAX_NAME_LENGTH = 200;
export const MAX_TEXT_LENGTH = 2_000;
