import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot, packageVersion } from '../config/package.js';
import { TOKENS } from '../edge/pages/tokens.js';
import { Contract, type Document } from './contract.js';
import type { Costs } from './costs-page.js';
import type { Guide } from './guide-pages.js';
import { SAMPLE_LANGUAGES, type SampleBook, samplesIn } from './reference/samples.js';

export interface Sources {
  version: string;
  gateway: Contract;
  signOn: Contract;
  webhooks: Contract;
  guides: Guide[];
  /** The guides for operators. */
  operate: Guide[];
  samples: SampleBook;
  costs: Costs;
  style: string;
  script: string;
  /** Runs before a page is drawn, lest it flash in other colours. */
  themeScript: string;
  /** The modules of the search, which its first use loads. */
  searchEngine: { name: string; body: string }[];
}

const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;
const DARK = /@media \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}\s*\}/g;
/** In order: later ones win. */
const STYLES = [
  'base',
  'frame',
  'prose',
  'code',
  'reference',
  'try-it',
  'search',
  'start',
  'narrow',
  'print',
];
const SCRIPTS = ['contents', 'code-blocks', 'copy-page', 'search', 'try-it'];

export function readSources(): Sources {
  const assets = (names: string[], ending: string) =>
    names
      .map((name) => readFileSync(join(packageRoot, 'src/docs/assets', `${name}.${ending}`), 'utf8'))
      .join('\n');
  return {
    version: packageVersion,
    gateway: readContract('openapi/gateway.json'),
    signOn: readContract('openapi/sign-on.json'),
    webhooks: readContract('asyncapi/webhooks.json'),
    guides: readGuides(join(packageRoot, 'openapi/guides')),
    operate: readGuides(join(packageRoot, 'src/docs/operate')),
    samples: readSamples(join(packageRoot, 'src/docs/samples')),
    costs: JSON.parse(readFileSync(join(packageRoot, 'src/docs/costs.json'), 'utf8')) as Costs,
    style: switchable(`${TOKENS}${assets(STYLES, 'css')}`),
    script: assets(SCRIPTS, 'js'),
    themeScript: assets(['theme'], 'js'),
    searchEngine: [
      { name: 'finder.js', body: assets(['finder'], 'js') },
      { name: 'minisearch.js', body: withLicence('minisearch', 'dist/es/index.js', 'LICENSE.txt') },
      { name: 'stemmer.js', body: withLicence('stemmer', 'index.js', 'license') },
    ],
  };
}

/** Style that is dark where the system or, with `data-theme`, the reader wants it; never on paper. */
function switchable(style: string): string {
  const chosen =
    ':root[data-theme="light"] { color-scheme: light; }\n@media screen { :root[data-theme="dark"] { color-scheme: dark; } }\n';
  const colours = style.replace(
    DARK,
    (_, dark: string) =>
      `@media (prefers-color-scheme: dark) {\n  :root:not([data-theme="light"]) {${dark}}\n}\n@media screen { :root[data-theme="dark"] {${dark}} }`,
  );
  return `${colours}${chosen}`;
}

/** A module of a package as browsers load it, under the terms on which it may be passed on. */
function withLicence(name: string, file: string, licence: string): string {
  const read = (path: string) => readFileSync(join(packageRoot, 'node_modules', name, path), 'utf8');
  return `/*!\n${name}\n\n${read(licence).trim()}\n*/\n${read(file).replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n')}`;
}

function readContract(file: string): Contract {
  return new Contract(JSON.parse(readFileSync(join(packageRoot, 'generated', file), 'utf8')) as Document);
}

function readSamples(folder: string): SampleBook {
  return Object.fromEntries(
    SAMPLE_LANGUAGES.map((name) => [name, samplesIn(readFileSync(join(folder, `${name}.md`), 'utf8'))]),
  ) as SampleBook;
}

export function readGuides(folder: string): Guide[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => guideOf(name, readFileSync(join(folder, name), 'utf8')))
    .sort((one, other) => one.order - other.order || one.slug.localeCompare(other.slug));
}

/** A guide begins with its title, its place and a summary. */
export function guideOf(file: string, text: string): Guide {
  const [matter = '', yaml = ''] = FRONT_MATTER.exec(text) ?? [];
  const { title, order, summary } = (parse(yaml) ?? {}) as Record<string, unknown>;
  if (typeof title !== 'string' || typeof order !== 'number' || typeof summary !== 'string') {
    throw new Error(`${file} has to begin with title, order and summary between lines of ---.`);
  }
  return { slug: file.replace(/\.md$/, ''), title, order, summary, markdown: text.slice(matter.length) };
}
