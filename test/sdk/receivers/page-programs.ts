import { blocksOf } from '../../guides/guide-page.js';
import { FRAMEWORK_GUIDE, guideSource } from '../../guides/guides.js';

export const pageText = guideSource(FRAMEWORK_GUIDE);

/** Programs of the page, by the name of the file. */
const programs = new Map(
  blocksOf(pageText).flatMap(({ info, code }) => {
    const [, file] = /(?:^|\s)file=(\S+)/.exec(info) ?? [];
    return file === undefined ? [] : [[file, code] as const];
  }),
);

export function programOf(file: string): string {
  const code = programs.get(file);
  if (code === undefined) {
    throw new Error(`The page has no program ${file}.`);
  }
  return code;
}

/** A program with another text in place of one of its own. */
export function replaced(code: string, own: string, other: string): string {
  if (!code.includes(own)) {
    throw new Error(`“${own}” is not in:\n${code}`);
  }
  return code.replace(own, other);
}

export const withLines = (code: string, after: string, lines: string): string =>
  replaced(code, after, `${after}\n${lines}`);

/** In place of `store`: what it throws makes the framework answer. */
export const failingStores = {
  'store.ts': `export function store() { throw new Error('The database is away.'); }\n`,
  'store.py': `def store(event):\n    raise RuntimeError("The database is away.")\n`,
  'store.go': `package main

import (
	"context"
	"errors"

	"integration.example.com/sdk"
)

func store(context.Context, *sdk.Event) error { return errors.New("The database is away.") }
`,
};
