/** The parts of OpenAPI, AsyncAPI and JSON Schema that generators and the documentation read. */
export interface Schema extends Deprecation {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  examples?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  oneOf?: Schema[];
  discriminator?: unknown;
  'x-public-id-prefix'?: string;
}

export interface Deprecation {
  deprecated?: boolean;
  /** The day of its end. */
  'x-sunset'?: string;
}

export interface Example {
  $ref?: string;
  summary?: string;
  value?: unknown;
  headers?: Record<string, string>;
  payload?: unknown;
}

export interface Parameter extends Deprecation {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  description?: string;
  required?: boolean;
  schema: Schema;
  example?: unknown;
}

export interface Media {
  schema?: Schema;
  examples?: Record<string, Example>;
}

export interface Header {
  $ref?: string;
  description?: string;
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
}

export interface Response {
  $ref?: string;
  description: string;
  headers?: Record<string, Header>;
  content?: Record<string, Media>;
}

export interface Operation extends Deprecation {
  operationId: string;
  summary: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { $ref?: string; required?: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
  security?: Record<string, string[]>[];
  'x-internal'?: boolean;
  'x-invalid-request'?: 'handler';
}

interface SecurityScheme {
  description?: string;
  type: string;
  scheme?: string;
  in?: string;
  name?: string;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

type Method = (typeof METHODS)[number];

export type PathItem = { parameters?: Parameter[] } & { [Name in Method]?: Operation };

/** An operation and its path. Requests to an integrator's own address have none. */
export interface PlacedOperation {
  method: Method;
  path: string | undefined;
  parameters: Parameter[];
  operation: Operation;
}

export function placed(paths: Record<string, PathItem>): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      const parameters = [...(item.parameters ?? []), ...(operation?.parameters ?? [])];
      return operation ? [{ method, path, parameters, operation }] : [];
    }),
  );
}

export interface Message {
  name: string;
  title: string;
  summary?: string;
  description?: string;
  tags?: { $ref: string }[];
  headers: Schema;
  payload: Schema;
  examples: Example[];
}

export interface Tag {
  name: string;
  description?: string;
}

export interface Document {
  info: { title: string; version: string; summary?: string; description: string };
  servers: unknown;
  security?: Record<string, string[]>[];
  tags?: Tag[];
  paths: Record<string, PathItem>;
  webhooks?: Record<string, PathItem>;
  components: {
    schemas: Record<string, Schema>;
    parameters?: Record<string, Parameter>;
    responses?: Record<string, Response>;
    securitySchemes: Record<string, SecurityScheme>;
    messages?: Record<string, Message>;
    tags?: Record<string, Tag>;
  };
}

/** The name of what is referred to; empty without a reference. */
export function nameIn({ $ref = '' }: { $ref?: string | undefined } = {}): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}
