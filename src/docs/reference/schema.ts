import { Html, html } from '../../edge/pages/html.js';
import type { Contract, Deprecation, Schema } from '../contract.js';
import type { Prose } from '../markdown.js';
import { withPlaces } from '../places.js';

/** Deeper members are on the page of schemas. */
const MAX_DEPTH = 5;
/** Longer ones, such as tokens, are in examples of whole answers. */
const MAX_EXAMPLE_LENGTH = 70;

/** Shows schemas as lists of members that unfold. */
export class SchemaView {
  constructor(
    readonly contract: Contract,
    readonly prose: Prose,
  ) {}

  /** The description of a value: its members or alternatives. */
  of(schema: Schema, depth = 0): Html {
    const { items, variants, properties, target } = this.#inside(schema);
    if (properties) {
      return this.#members(target, depth);
    }
    if (variants.length > 0) {
      return html`${variants.map(
        (variant) =>
          html`<details class="members"><summary>One of: <span class="type">${this.typeOf(variant)}</span></summary>${this.of(variant, depth + 1)}</details>`,
      )}`;
    }
    return items ? this.of(items, depth) : this.limits(schema);
  }

  /** A row: name, type, whether required, whether its end has been announced, description. */
  row(
    name: string,
    schema: Schema,
    facts: { required?: boolean | undefined; where?: string | undefined },
    depth = 0,
  ): Html {
    const resolved = this.contract.resolve(schema);
    return html`<li><p class="member"><code class="name">${name}</code> <span class="type">${this.typeOf(schema)}</span>${
      facts.where !== undefined && html` <span class="where">in ${facts.where}</span>`
    }${facts.required === true ? html` <span class="required">required</span>` : ''}${deprecation(resolved)}</p>${
      resolved.description !== undefined &&
      html`<div class="prose">${this.prose.block(withPlaces(resolved.description))}</div>`
    }${this.limits(resolved)}${this.#unfolding(schema, depth)}</li>`;
  }

  typeOf(schema: Schema): string {
    const resolved = this.contract.resolve(schema);
    const variants = (resolved.oneOf ?? []).map((variant) => this.typeOf(variant));
    if (variants.length > 0) {
      return variants.join(' or ');
    }
    const types = [resolved.type ?? 'any'].flat();
    return types
      .map((type) => {
        if (type === 'array') {
          return `array of ${resolved.items ? plural(this.typeOf(resolved.items)) : 'anything'}`;
        }
        return type === 'object' && resolved.title !== undefined ? resolved.title : type;
      })
      .join(' or ');
  }

  limits(schema: Schema): Html {
    const resolved = this.contract.resolve(schema);
    const { examples = [], enum: values } = resolved;
    const facts = Object.entries({
      'One of':
        values &&
        html`${values.map((value, index) => html`${index > 0 && ', '}<code>${String(value)}</code>`)}`,
      Always: resolved.const,
      Format: resolved.format,
      Pattern: resolved.pattern,
      Default: resolved.default,
      Least: resolved.minimum,
      Most: resolved.maximum,
      Shortest: resolved.minLength,
      Longest: resolved.maxLength,
      Example: examples.find((example) => JSON.stringify(example).length <= MAX_EXAMPLE_LENGTH),
    }).filter(([, value]) => value !== undefined);
    return facts.length === 0
      ? html``
      : html`<dl class="limits">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value instanceof Html ? value : asCode(value)}</dd></div>`)}</dl>`;
  }

  #members({ properties = {}, required = [] }: Schema, depth: number): Html {
    return html`<ul class="list">${Object.entries(properties).map(([name, member]) =>
      this.row(name, member, { required: required.includes(name) }, depth),
    )}</ul>`;
  }

  #unfolding(schema: Schema, depth: number): Html | undefined {
    const { properties, variants, target } = this.#inside(schema);
    if (depth >= MAX_DEPTH || (!properties && variants.length === 0)) {
      return undefined;
    }
    const content = properties ? this.#members(target, depth + 1) : this.of(target, depth + 1);
    return html`<details class="members"><summary>Members<span class="of"> of ${target.title ?? 'it'}</span></summary>${content}</details>`;
  }

  /** The schema behind references, lists and null. */
  #inside(schema: Schema): {
    target: Schema;
    items: Schema | undefined;
    variants: Schema[];
    properties: boolean;
  } {
    const target = this.contract.resolve(schema);
    const variants = (target.oneOf ?? []).filter((variant) => variant.type !== 'null');
    if (variants.length === 1 && variants[0]) {
      return this.#inside(variants[0]);
    }
    if (target.items) {
      const within = this.#inside(target.items);
      return { ...within, items: target.items };
    }
    return { target, items: undefined, variants, properties: target.properties !== undefined };
  }
}

/** A mark with the day of the end. */
export function deprecation({ deprecated = false, 'x-sunset': end }: Deprecation): Html | false {
  return (
    deprecated && html` <span class="deprecated">Deprecated${end !== undefined && `, ends ${end}`}</span>`
  );
}

function asCode(value: unknown): Html {
  return html`<code>${typeof value === 'string' ? withPlaces(value) : JSON.stringify(value)}</code>`;
}

function plural(type: string): string {
  return ['string', 'object', 'integer', 'number', 'boolean'].includes(type) ? `${type}s` : type;
}
