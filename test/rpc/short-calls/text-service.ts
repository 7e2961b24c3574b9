import type { MethodDefinition } from '@grpc/grpc-js';
import type { CallContext } from '../../../src/rpc/handlers.js';
import { type ServedService, serve } from '../../../src/rpc/handlers.js';

type TextMethod = MethodDefinition<string, string>;

function textMethod(path: string): TextMethod {
  const toBytes = (text: string) => Buffer.from(text);
  const toText = (bytes: Buffer) => bytes.toString();
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: toBytes,
    requestDeserialize: toText,
    responseSerialize: toBytes,
    responseDeserialize: toText,
  };
}

/** Text in, text out, under the names of a repeatable method of the edge and of one that is not. */
export const textService = {
  ask: textMethod('/integration.sign_on.v1.SignOnService/GetUserinfo'),
  change: textMethod('/integration.sign_on.v1.SignOnService/IssueTokens'),
};

export type Answering = (text: string, context: CallContext) => string | Promise<string>;

export function textsAnsweredBy(ask: Answering, change: Answering = ask): ServedService {
  return serve(textService, {
    ask: async (text: string, context: CallContext) => ask(text, context),
    change: async (text: string, context: CallContext) => change(text, context),
  });
}
