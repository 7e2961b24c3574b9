const { register: registerHooks } = require('node:module');
const { pathToFileURL } = require('node:url');

const GLOBALS = pathToFileURL(require.resolve('./globals.js')).href;

/** `@jest/globals` itself only says that jest must load it. */
const HOOKS = `export const resolve = (specifier, context, next) => specifier === '@jest/globals'
  ? { url: ${JSON.stringify(GLOBALS)}, shortCircuit: true }
  : next(specifier, context);`;

let filesBefore = 0;

/** Loads test files as Node loads them; what they import stays loaded for the other files of the worker. */
module.exports = class NativeRuntime {
  constructor(config, environment) {
    this.config = config;
    this.environment = environment;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    if (filesBefore === 0) {
      (await import('tsx/esm/api')).register();
      registerHooks(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
    }
    filesBefore += 1;
    await import(`${pathToFileURL(path).href}?file=${filesBefore}`);
  }

  /** The test framework: a new one for each file, because it keeps what was described. */
  requireInternalModule(path) {
    delete require.cache[require.resolve(path)];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    globalThis[Symbol.for('jest globals')] = { ...globals, jest: this.environment.jest };
  }

  getSourceMaps() {
    return null;
  }

  getAllCoverageInfoCopy() {}
  enterTestCode() {}
  leaveTestCode() {}
  resetModules() {}
  teardown() {}
};
