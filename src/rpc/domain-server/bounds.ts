import { invalidField } from '../../errors/service-error.js';

export function assertBetween(value: number, least: number, most: number, path: string): void {
  if (value < least || value > most) {
    throw invalidField('A number is out of bounds.', path, `must be between ${least} and ${most}`);
  }
}

export function assertNotMore(list: readonly unknown[], most: number, path: string): void {
  if (list.length > most) {
    throw invalidField('The request has too many entries.', path, `must be ${most} at most`);
  }
}
