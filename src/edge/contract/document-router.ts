import FindMyWay from 'find-my-way';
import type { Operation } from 'openapi-backend';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { DispatchedAnswer, HttpRequest } from '../http/exchange.js';
import { isOpenToScripts } from './cross-origin.js';
import type { ParsedBody } from './request-body.js';

/** A request after routing. The type of each handler shows only the members that it may use. */
export interface RoutedRequest extends Omit<HttpRequest, 'query'> {
  operation: Operation | undefined;
  /** Where none matches, those of the path by other methods. */
  others: readonly Operation[];
  params: Record<string, string | undefined>;
  query: Record<string, QueryValue>;
  cookies: object;
  /** More fields for the log line of the request. */
  facts: NonNullable<DispatchedAnswer['facts']>;
  /** The body as received, where the operation has one. */
  body: ParsedBody;
  /** The documented fields of a form that the document validates. */
  requestBody?: object;
  /** The caller, where the operation has security. */
  identity?: unknown;
  /** Ends its turn among the requests under way. */
  makeRoom?: () => void;
}

/** Longer than any path: parameters are limited by their schemas, not by the router. */
const MAX_PARAMETER_LENGTH = 64 * 1_024;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

type Found = { operation: Operation; queryTypes: ReadonlyMap<string, string | undefined> };

/** A whole number in an address. JavaScript would also accept `1e1`, `0x10` and ` 1`. */
const DECIMAL = /^-?\d+$/;

/** Finds the operation of a request. openapi-backend's router would build its list for each request. */
export class DocumentRouter {
  readonly #routes = FindMyWay<FindMyWay.HTTPVersion.V1>({
    caseSensitive: true,
    ignoreTrailingSlash: false,
    maxParamLength: MAX_PARAMETER_LENGTH,
  });

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
      const queryTypes = new Map(
        (operation.parameters ?? []).flatMap((parameter) =>
          'name' in parameter && parameter.in === 'query' ? [[parameter.name, typeOf(parameter)]] : [],
        ),
      );
      const found: Found = { operation, queryTypes };
      this.#routes.on(operation.method.toUpperCase() as 'GET', path, () => undefined, found);
    }
  }

  /** HEAD is answered as GET if the document gives the operation a 304. */
  route(original: HttpRequest): RoutedRequest {
    const isHead = original.method === 'HEAD';
    const method = isHead ? 'GET' : original.method;
    const path = decodable(original.path);
    const any = this.#find(method, path);
    const match = isHead && any && !hasVersion((any.store as Found).operation) ? null : any;
    const found = match?.store as Found | undefined;
    const others = found ? [] : this.#allOf(path);
    const query = queryOf(original.query, found?.queryTypes);
    const request: RoutedRequest = {
      ...original,
      ...{ method, operation: found?.operation, others, params: { ...match?.params }, query },
      ...{ cookies: {}, facts: {}, body: { kind: 'none' } },
      // The answer takes `ms` longer, so the request gives up its turn.
      wait: (ms) => {
        request.makeRoom?.();
        original.wait(ms);
      },
    };
    return request;
  }

  /** A parameter is never empty, so that a superfluous slash matches no path. */
  #find(method: string, path: string) {
    const match = isMethod(method) ? this.#routes.find(method, path) : null;
    return match && Object.values(match.params).includes('') ? null : match;
  }

  #allOf(path: string): Operation[] {
    return METHODS.flatMap((method) => {
      const found = this.#find(method, path)?.store as Found | undefined;
      return found ? [found.operation] : [];
    });
  }
}

/** The methods that a path with these operations accepts, for `Allow`. */
export function allowedBy(operations: readonly Operation[]): string {
  const methods = operations.flatMap((operation) => {
    const method = operation.method.toUpperCase();
    return method === 'GET' && hasVersion(operation) ? ['GET', 'HEAD'] : [method];
  });
  return [...methods, ...(operations.some(isOpenToScripts) ? ['OPTIONS'] : [])].join(', ');
}

/** Whether the document has a conditional answer (304). */
function hasVersion({ responses }: Operation): boolean {
  return responses !== undefined && '304' in responses;
}

function isMethod(method: string): method is (typeof METHODS)[number] {
  return (METHODS as readonly string[]).includes(method);
}

function decodable(path: string): string {
  try {
    decodeURIComponent(path);
    return path;
  } catch {
    throw new ServiceError(
      ErrorCode.INVALID_REQUEST,
      'The path of the request is not valid percent-encoding.',
    );
  }
}

type QueryValue = string | string[] | number;

/** The documented parameters, numbers converted. Other and repeated values stay for the schema to refuse. */
function queryOf(query: URLSearchParams, types: Found['queryTypes'] = new Map()): Record<string, QueryValue> {
  const values: Record<string, QueryValue> = {};
  for (const [name, type] of types) {
    const given = query.getAll(name);
    const [value = ''] = given;
    if (given.length > 0) {
      values[name] =
        given.length > 1 ? given : type === 'integer' && DECIMAL.test(value) ? Number(value) : value;
    }
  }
  return values;
}

function typeOf(parameter: object): string | undefined {
  const { schema } = parameter as { schema?: { type?: string } };
  return schema?.type;
}
