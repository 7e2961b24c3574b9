import { describe, expect, test } from '@jest/globals';
import { validateAuditFilter } from '../../../src/domain/operator/audit.js';
import { AUDIT_TYPES } from '../../../src/domain/operator/audit-types.js';

const all = Object.values(AUDIT_TYPES).flatMap((types) => Object.entries<string>(types));

test('each type of audit record is in one area, and says in a sentence what happened', () => {
  expect(new Set(all.map(([type]) => type)).size).toBe(all.length);
  for (const [type, what] of all) {
    expect([type, what]).toEqual([
      expect.stringMatching(/^[a-z_]+(\.[a-z_]+)?$/),
      expect.stringMatching(/^[A-Z].*\.$/),
    ]);
  }
});

describe('a search of the audit log', () => {
  test.each(all.map(([type]) => type))('takes the type %s', (type) => {
    expect(() => validateAuditFilter({ types: [type] })).not.toThrow();
  });

  test.each(['api_key.*', 'refresh_token.*', 'events.*'])('takes the pattern %s', (pattern) => {
    expect(() => validateAuditFilter({ types: [pattern] })).not.toThrow();
  });

  test.each([
    'sign-in',
    'api_key',
    'api_key.',
    'api_key.revok',
    'api_key.revok.*',
    'sign_in.*.*',
    '*',
    '.*',
    '',
  ])('refuses %j, which no record can have', (type) => {
    expect(() => validateAuditFilter({ types: ['api_key.revoked', type] })).toThrow(
      expect.objectContaining({ fieldViolations: [expect.objectContaining({ path: 'types[1]' })] }),
    );
  });
});
