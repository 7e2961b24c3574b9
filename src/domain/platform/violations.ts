import { ErrorCode, type FieldViolation, ServiceError } from '../../errors/service-error.js';

const EMAIL = /^[^\s@<>()[\],;:\\"]{1,64}@[^\s@<>()[\],;:\\"]{1,190}$/;
/** Nobody can tell an address with one of these from that without. */
const UNSEEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/u;
const COUNTRY = /^[A-Z]{2}$/;
/** Control characters never belong in a name, and NUL not even into PostgreSQL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Collects what is wrong with a request, so that all of it is said at once. */
export class Violations {
  readonly #found: FieldViolation[] = [];

  add(path: string, message: string): void {
    this.#found.push({ path, message });
  }

  /** A text that must be there. */
  requiredText(path: string, text: string | undefined, maxLength: number): void {
    if (text === undefined || text.trim() === '') {
      this.add(path, 'must not be empty');
    } else {
      this.optionalText(path, text, maxLength);
    }
  }

  /** A text that may be absent, and means something if it is there. */
  optionalText(path: string, text: string | undefined, maxLength: number): void {
    if (text === undefined) {
      return;
    }
    if (text.length > maxLength) {
      this.add(path, `must not be longer than ${maxLength} characters`);
    }
    if (CONTROL.test(text)) {
      this.add(path, 'must not hold control characters');
    }
  }

  email(path: string, text: string | undefined): void {
    if (text === undefined || text === '') {
      this.add(path, 'must not be empty');
    } else if (!EMAIL.test(text)) {
      this.add(path, 'must be an e-mail address');
    } else if (UNSEEN.test(text)) {
      this.add(path, 'must not hold characters that cannot be seen');
    }
  }

  countryCode(path: string, text: string | undefined): void {
    if (text !== undefined && !COUNTRY.test(text)) {
      this.add(path, 'must be a country code of two capital letters (ISO 3166-1 alpha-2)');
    }
  }

  throwIfAny(): void {
    if (this.#found.length > 0) {
      const message = 'The request cannot be carried out as it stands; the fields say why.';
      throw new ServiceError(ErrorCode.INVALID_REQUEST, message, { fieldViolations: this.#found });
    }
  }
}

export const MAX_NAME_LENGTH = 200;
export const MAX_TEXT_LENGTH = 2_000;
