import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package.js';
import { readGuides } from '../../src/docs/sources.js';

const folder = join(packageRoot, 'openapi/guides');

export const guides = readGuides(folder);

export const guideSlugs = guides.map(({ slug }) => slug);

/** Its programs are for one framework each; `test/sdk/receivers` runs them. */
export const FRAMEWORK_GUIDE = 'webhooks-in-your-framework';

/** Those whose programs are the same in the three languages. */
export const languageGuides = guideSlugs.filter((slug) => slug !== FRAMEWORK_GUIDE);

/** As it was written, front matter included. */
export const guideSource = (slug: string) => readFileSync(join(folder, `${slug}.md`), 'utf8');

/** Those that say what to type in a shell. */
export const guidesToType = languageGuides.filter((slug) => /^```sh/m.test(guideSource(slug)));
