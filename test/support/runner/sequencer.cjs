const { relative } = require('node:path');
const TestSequencer = require('@jest/test-sequencer').default;

/** By path below the project: builds in other languages, many services, and whole pages in Chromium. */
const LONG =
  /^test\/(?:(?:guides|sdk|chaos|soak|cluster|operate)\/|browser\/(?:docs|every-page)|workflows\/worker)/;

/**
 * Jest starts the longest files first, by what it has measured on this machine. Files that it has not measured
 * it takes by size, and some of the longest are the smallest: they would run last, with nothing beside them.
 */
module.exports = class extends TestSequencer {
  sort(tests) {
    const isLong = ({ duration, path, context }) =>
      duration === undefined && LONG.test(relative(context.config.rootDir, path));
    const place = (test) => (this.hasFailed(test) ? 0 : isLong(test) ? 1 : 2);
    return super.sort(tests).sort((one, other) => place(one) - place(other));
  }
};
