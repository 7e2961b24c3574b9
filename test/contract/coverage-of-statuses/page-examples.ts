import type { Exchange } from '../../support/http-exchange.js';
import type { CoveredService } from './covered-service.js';
import { type AnswerExample, answerExamples, exampleNameOf } from './error-examples.js';
import { missingPiece } from './page-outline.js';

/** What the examples call what the demo has. */
const NAMES: [RegExp, string][] = [
  [/Harborlight Dashboard|Brightledger Portal/g, 'Northwind Scheduling'],
  [/Tallowfern Bakeries/g, 'Northwind Traders'],
  [/Quillmere Logistics/g, 'Alpine Logistics'],
  [/[\w.-]+@[\w.-]+/g, 'maria.keller@northwind.example.com'],
  [/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'req-7d1f0c52'],
];

/** A page as the service gave it. */
export interface ServedPage {
  operationId: string;
  answer: Exchange;
}

/** Pages that no case of a status shows. */
export const furtherPages: [operationId: string, ask: (service: CoveredService) => Promise<Exchange>][] = [
  [
    'authorize',
    ({ signOn }) => {
      const elsewhere = { redirect_uri: 'https://elsewhere.example.com/callback' };
      return signOn.userAgent().ask(signOn.authorizeTarget(signOn.portal, elsewhere));
    },
  ],
  [
    'showPasswordSet',
    async ({ signOn }) => {
      const initiateLoginUri = 'https://app.example.com/sign-in';
      const { clientId } = await signOn.register({ name: 'Northwind Scheduling', initiateLoginUri });
      const entrance = `${clientId}.${signOn.portal.redirectUris[0]?.instanceId}`;
      return signOn.userAgent().ask(`/auth/password-set?entrances=${entrance}`);
    },
  ],
];

/** A documented page, and the operations that show it. */
export interface PageExample {
  name: string;
  status: number;
  html: string;
  operationIds: string[];
}

const all = answerExamples('sign-on').filter(({ mediaType }) => mediaType === 'text/html');
const isSamePage = (one: AnswerExample) => (other: AnswerExample) =>
  one.status === other.status && one.value === other.value;

/** Operations share responses: each page once. */
export const pageExamples: PageExample[] = all
  .filter((one, index) => all.findIndex(isSamePage(one)) === index)
  .map((one) => ({
    name: exampleNameOf(one),
    status: one.status,
    html: String(one.value),
    operationIds: all.filter(isSamePage(one)).map(({ operationId }) => operationId),
  }));

/** What the last of the pages lacks, unless one has all of the example. */
export function lacking(
  { operationIds, status, html }: PageExample,
  pages: ServedPage[],
): string | undefined {
  const missing = pages
    .filter(({ operationId, answer }) => operationIds.includes(operationId) && answer.status === status)
    .map(({ answer }) => missingPiece(html, named(answer.body)));
  return missing.includes(undefined) ? undefined : (missing.at(-1) ?? 'all of it');
}

function named(html: string): string {
  return NAMES.reduce((text, [pattern, name]) => text.replace(pattern, name), html);
}
