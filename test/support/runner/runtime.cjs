const asyncHooks = require('node:async_hooks');
const { register: registerHooks } = require('node:module');
const { pathToFileURL } = require('node:url');

const GLOBALS = pathToFileURL(require.resolve('./globals.js')).href;

/** `@jest/globals` itself only says that jest must load it. */
const HOOKS = `export const resolve = (specifier, context, next) => specifier === '@jest/globals'
  ? { url: ${JSON.stringify(GLOBALS)}, shortCircuit: true }
  : next(specifier, context);`;

let filesBefore = 0;

/** Defined, because it has only a getter on Node 24. */
const provide = (value) =>
  Object.defineProperty(asyncHooks, 'AsyncLocalStorage', {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });

/** Loads test files as Node loads them; what they import stays loaded for the other files of the worker. */
module.exports = class NativeRuntime {
  constructor(_, environment) {
    this.environment = environment;
    this.storages = [];
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

  /**
   * The test framework: a new one for each file, because it keeps what was described. Its storages are ended with
   * the file: each that is in use costs time at every promise.
   */
  requireInternalModule(path) {
    const { AsyncLocalStorage } = asyncHooks;
    const { storages } = this;
    provide(
      class extends AsyncLocalStorage {
        constructor(...given) {
          super(...given);
          storages.push(this);
        }
      },
    );
    try {
      delete require.cache[require.resolve(path)];
      return require(path);
    } finally {
      provide(AsyncLocalStorage);
    }
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

  teardown() {
    for (const storage of this.storages) {
      storage.disable();
    }
  }
};
