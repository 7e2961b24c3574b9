import {
  type Document,
  type Operation,
  type PlacedOperation,
  placed,
  type Schema,
  type Tag,
} from '../codegen/documents.js';

export type * from '../codegen/documents.js';

/** A document with resolvable references. */
export class Contract {
  constructor(readonly document: Document) {}

  /** Resolves a reference; siblings such as a description win. */
  resolve<T extends object>(value: T & { $ref?: string }): T {
    if (value.$ref === undefined) {
      return value;
    }
    const { $ref, ...beside } = value;
    return { ...this.resolve(this.#at($ref) as T), ...beside } as T;
  }

  #at(ref: string): unknown {
    const target = ref
      .replace(/^#\//, '')
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>(
        (found, part) => (found as Record<string, unknown> | undefined)?.[part],
        this.document,
      );
    if (target === undefined) {
      throw new Error(`${ref} leads nowhere.`);
    }
    return target;
  }

  /** Operations that integrators call or receive, without pages for people. */
  operations(): PlacedOperation[] {
    const called = placed(this.document.paths).filter(({ operation }) => operation['x-internal'] !== true);
    const arriving = placed(this.document.webhooks ?? {}).map((one) => ({ ...one, path: undefined }));
    return [...called, ...arriving].map((one) => ({
      ...one,
      parameters: one.parameters.map((parameter) => this.resolve(parameter)),
    }));
  }

  /**
   * By name: first the inline schemas of what arrives at integrators, then the components, except those that
   * only pages for people use.
   */
  schemas(): Record<string, Schema> {
    const inline = placed(this.document.webhooks ?? {}).flatMap(({ parameters, operation }) => [
      ...parameters.map(({ schema }) => schema),
      ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema),
    ]);
    const named = inline.flatMap((schema): [string, Schema][] =>
      schema?.title ? [[schema.title, schema]] : [],
    );
    const ofPages = this.#onlyOfPages();
    const components = Object.entries(this.document.components.schemas).filter(
      ([name]) => !ofPages.has(`#/components/schemas/${name}`),
    );
    return Object.fromEntries([...named, ...components]);
  }

  #onlyOfPages(): Set<string> {
    const operations = placed(this.document.paths);
    const isPage = ({ operation }: PlacedOperation) => operation['x-internal'] === true;
    const ofPages = this.#referencesIn(operations.filter(isPage));
    const ofPrograms = this.#referencesIn([
      ...operations.filter((one) => !isPage(one)),
      this.document.webhooks ?? {},
    ]);
    return new Set([...ofPages].filter((ref) => !ofPrograms.has(ref)));
  }

  /** All references in a value and in what they lead to. */
  #referencesIn(value: unknown, found = new Set<string>()): Set<string> {
    for (const [, ref = ''] of JSON.stringify(value).matchAll(/"(#\/components\/[^"]+)"/g)) {
      if (!found.has(ref)) {
        found.add(ref);
        this.#referencesIn(this.#at(ref), found);
      }
    }
    return found;
  }

  operationsOf(tag: string): PlacedOperation[] {
    return this.operations().filter(({ operation }) => operation.tags?.includes(tag));
  }

  /** Tags with operations for integrators. */
  tags(): Tag[] {
    return (this.document.tags ?? []).filter(({ name }) => this.operationsOf(name).length > 0);
  }

  securityOf({ security = this.document.security ?? [] }: Operation): string[] {
    return [...new Set(security.flatMap((way) => Object.keys(way)))];
  }
}

/** For addresses. */
export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
