import { describe, expect, test } from '@jest/globals';
import {
  asServiceError,
  ErrorCode,
  internalError,
  publicCode,
  ServiceError,
} from '../../src/errors/service-error.js';

describe('a refusal', () => {
  test('is an Error with its code, its public sentence and its cause', () => {
    const cause = new Error('why');
    const error = new ServiceError(ErrorCode.CLIENT_NOT_FOUND, 'Client not found', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'ServiceError', code: ErrorCode.CLIENT_NOT_FOUND, cause });
    expect(error.message).toBe('Client not found');
    expect(error.stack).toContain('service-error.test');
  });

  test('without details has none', () => {
    const error = new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.');
    expect(error.fieldViolations).toEqual([]);
    expect([error.internal, error.rateLimit, error.retryAfterSeconds]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('anything that is thrown', () => {
  test('stays itself when it is a refusal', () => {
    const error = new ServiceError(ErrorCode.RATE_LIMITED, 'Too many.');
    expect(asServiceError(error)).toBe(error);
  });

  test.each([
    ['an Error', new RangeError('the disk is full'), 'RangeError: the disk is full'],
    ['a text', 'the disk is full', 'the disk is full'],
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['a symbol', Symbol('odd'), 'Symbol(odd)'],
    ['an object', { disk: 'full' }, "{ disk: 'full' }"],
    ['an object without a prototype', Object.create(null), '[Object: null prototype] {}'],
  ])('becomes a fault that says nothing outside and all inside: %s', (_, thrown, internal) => {
    const error = asServiceError(thrown);
    expect(error).toMatchObject({ code: ErrorCode.INTERNAL_ERROR, internal, cause: thrown });
    expect(error.message).toBe('Something went wrong on our side.');
  });

  test('internalError never shows its cause', () => {
    expect(internalError(new Error('canary')).message).not.toContain('canary');
  });
});

describe('public codes', () => {
  test('are the names of the contract without their prefix, in lower case', () => {
    expect(publicCode(ErrorCode.API_KEY_WRONG_ENVIRONMENT)).toBe('api_key_wrong_environment');
    expect(publicCode(ErrorCode.INVALID_GRANT)).toBe('invalid_grant');
  });

  test('are one for each code', () => {
    const codes = Object.values(ErrorCode).map(publicCode);
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes.filter((code) => !/^[a-z]+(_[a-z]+)*$/.test(code))).toEqual([]);
  });
});
