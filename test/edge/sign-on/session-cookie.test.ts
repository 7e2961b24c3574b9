import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SessionCookieJar } from '../../../src/edge/sign-on/browser.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';

const VALUE = 'Zm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9';

const SETTINGS = [
  ['live', 'https://sign-on.example.com', '__Host-integration_session', '; Secure'],
  ['demo', 'https://sign-on.example.com', '__Host-integration_session_demo', '; Secure'],
  ['live', 'http://localhost:4000', 'integration_session', ''],
  ['demo', 'http://localhost:4000', 'integration_session_demo', ''],
] as const;

describe.each(SETTINGS)('the cookie of %s at %s', (environment, signOnUrl, name, secure) => {
  const jar = new SessionCookieJar({ environment, signOnUrl });

  test('has the name and the safeguards that its address allows', () => {
    expect(jar.headersOf({ sessionCookie: { change: { $case: 'setValue', value: VALUE } } })).toEqual({
      'Set-Cookie': `${name}=${VALUE}; Path=/; HttpOnly; SameSite=Lax${secure}`,
    });
    expect(jar.headersOf({ sessionCookie: { change: { $case: 'clear', value: true } } })).toEqual({
      'Set-Cookie': `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure}`,
      'Clear-Site-Data': '"cache"',
    });
  });

  test('stays unchanged when nothing is said', () => {
    expect(jar.headersOf(undefined)).toEqual({});
    expect(jar.headersOf({ sessionCookie: { change: undefined } })).toEqual({});
  });

  test('is found among others, and those of the other settings mean nothing', () => {
    const others = SETTINGS.map(([, , other]) => other).filter((other) => other !== name);
    const header = [...others.map((other) => `${other}=${VALUE}`), 'a=b'].join('; ');
    expect(jar.hashIn(header)).toBeUndefined();
    expect(jar.hashIn(`${header}; ${name}=${VALUE}`)).toEqual(hashSecret(VALUE));
    expect(jar.hashIn(`${name}=${VALUE};${header}`)).toEqual(hashSecret(VALUE));
  });
});

describe('the cookie by which a browser is known', () => {
  const jar = new SessionCookieJar({ environment: 'live', signOnUrl: 'https://sign-on.example.com' });
  const device = `${'d'.repeat(22)}.${VALUE}`;

  test('is set beside that of the session, for over a year', () => {
    const sessionCookie = { change: { $case: 'setValue', value: VALUE } } as const;
    const { 'Set-Cookie': set } = jar.headersOf({ sessionCookie, device });
    expect(set).toEqual([
      expect.stringContaining(`__Host-integration_session=${VALUE};`),
      expect.stringMatching(
        new RegExp(
          `^__Host-integration_device=${device}; Path=/; Expires=[^;]+GMT; HttpOnly; SameSite=Lax; Secure$`,
        ),
      ),
    ]);
    expect(jar.headersOf({ device })['Set-Cookie']).toHaveLength(1);
  });

  test.each([
    [device, true],
    [`${device}.${VALUE}`, true],
    ['d'.repeat(22), false],
    [`${device}.`, false],
    [`${device}${`.${VALUE}`.repeat(8)}`, false],
    ['__proto__', false],
  ])('is read when it has the shape of one: %.40s', (value, isOne) => {
    expect(jar.deviceIn(`a=b; __Host-integration_device=${value}`)).toBe(isOne ? value : undefined);
  });
});

describe('a cookie that is none of ours', () => {
  const jar = new SessionCookieJar({ environment: 'live', signOnUrl: 'https://sign-on.example.com' });
  const name = '__Host-integration_session';

  test.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['an empty value', `${name}=`],
    ['too short a value', `${name}=${VALUE.slice(1)}`],
    ['too long a value', `${name}=${VALUE}A`],
    ['a quoted value', `${name}="${VALUE}"`],
    ['a value of another alphabet', `${name}=${VALUE.slice(1)}+`],
    ['its name in capitals', `${name.toUpperCase()}=${VALUE}`],
    ['a name that ends in its name', `x${name}=${VALUE}`],
    ['no equals sign', name + VALUE],
    ['two of its name', `${name}=${VALUE}; ${name}=${VALUE}`],
    ['two of its name, one empty', `${name}=; ${name}=${VALUE}`],
  ])('%s is no session', (_, header) => {
    expect(jar.hashIn(header)).toBeUndefined();
  });

  test('whatever stands around it, nothing but our value is taken for one', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'binary' }), (before, value) => {
        const hash = jar.hashIn(`${before};${name}=${value}`);
        fc.pre(!before.includes(name));
        expect(hash === undefined || /^[\w-]{43}$/.test(value.split(';')[0]?.trim() ?? '')).toBe(true);
      }),
    );
  });
});
