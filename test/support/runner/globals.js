const GLOBALS = Symbol.for('jest globals');

/** What the framework of the file that runs now has under a name; support that stays loaded outlives a framework. */
function present(name) {
  return new Proxy(() => undefined, {
    apply: (_, self, given) => globalThis[GLOBALS][name].apply(self, given),
    get: (_, key) => globalThis[GLOBALS][name][key],
  });
}

export const jest = present('jest');
export const expect = present('expect');
export const describe = present('describe');
export const test = present('test');
export const beforeAll = present('beforeAll');
export const beforeEach = present('beforeEach');
export const afterAll = present('afterAll');
export const afterEach = present('afterEach');
