/* The engine of the search: MiniSearch, with the stems of Porter and words that other services use. */
import MiniSearch from './minisearch.js';
import { stemmer } from './stemmer.js';

const MAX_RESULTS = 12;
/** Weights of the fields: heading, its anchor (the name in a contract), page, text, names of its fields. */
const BOOST = { t: 6, anchor: 6, p: 2, x: 1, f: 1 };
/** An alternative of a word counts less than the word itself. */
const WEIGHTS = { word: 1, stem: 0.9, synonym: 0.6, parts: 0.1 };
/** A typo counts less than a word with the same beginning. */
const NEAR = { fuzzy: 0.15, prefix: 0.5 };
/** Whole pages come before sections, pages for integrators before those for operators, schemas last. */
const weightOf = (address) => {
  const weight = /\/schemas#/.test(address) ? 0.3 : address.includes('#') ? 1 : 1.3;
  return address.startsWith('/docs/operate') ? weight * 0.7 : weight;
};
/** The part of the letters that may be wrong. Shorter words have too many neighbours. */
const FUZZINESS = 0.2;
const MIN_FUZZY_LENGTH = 4;
const MIN_PREFIX_LENGTH = 2;

const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from get how i in is it me my of on or the to use we what when where which with you your'.split(
    ' ',
  ),
);

/** Words that people know from elsewhere, and what these pages say. */
const SYNONYMS = {
  pagination: ['lists', 'page', 'limit'],
  paginate: ['lists', 'page', 'limit'],
  paging: ['lists', 'page', 'limit'],
  cursor: ['page', 'lists'],
  offset: ['page', 'lists'],
  sandbox: ['demo'],
  staging: ['demo'],
  playground: ['demo', 'try'],
  production: ['live'],
  prod: ['live'],
  idempotency: ['duplicates', 'again', 'once'],
  idempotent: ['duplicates', 'again', 'once'],
  dedupe: ['duplicates', 'twice'],
  deduplicate: ['duplicates', 'twice'],
  duplicate: ['again', 'twice'],
  ngrok: ['forward', 'localhost', 'receive'],
  tunnel: ['forward', 'localhost', 'receive'],
  tunnelling: ['forward', 'localhost', 'receive'],
  localtunnel: ['forward', 'localhost', 'receive'],
  employee: ['worker'],
  staff: ['worker'],
  tenant: ['instance', 'client'],
  customer: ['client'],
  company: ['client'],
  login: ['sign', 'users'],
  logon: ['sign', 'users'],
  signin: ['sign', 'users'],
  sso: ['sign'],
  oauth: ['sign', 'authorization'],
  oidc: ['openid', 'sign'],
  logout: ['signing', 'session'],
  signout: ['logout', 'session'],
  throttle: ['rate'],
  throttling: ['rate'],
  quota: ['rate', 'limit'],
  unauthorized: ['401', 'authentication'],
  unauthorised: ['401', 'authentication'],
  forbidden: ['403', '404'],
  auth: ['authentication', 'authorization'],
  token: ['tokens'],
  apikey: ['key'],
  hook: ['webhook'],
  hmac: ['signature'],
  signing: ['signature'],
  callback: ['redirect', 'webhook'],
  cors: ['origin', 'cross'],
  spa: ['browser', 'public'],
  polling: ['sync'],
  caching: ['etag'],
  cache: ['etag'],
  stub: ['mock'],
  fake: ['mock'],
  exception: ['errors'],
  failure: ['errors'],
  swagger: ['openapi', 'contracts'],
  postman: ['openapi', 'contracts'],
  library: ['sdk'],
  deprecated: ['deprecation'],
  breaking: ['versions'],
};

const WORD = /[\p{L}\p{N}_]+/gu;
const PARTS = /_|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u;

const partsOf = (word) => word.split(PARTS).filter(Boolean);

/** An identifier counts whole and by its parts. */
const wordsOf = (text) =>
  (text.match(WORD) ?? []).flatMap((word) => {
    const parts = partsOf(word);
    return parts.length > 1 ? [word, ...parts] : [word];
  });

const formsOf = (word) => [...new Set([word.toLowerCase(), stemmer(word.toLowerCase())])];

/** Numbers, such as a status, have no neighbours and no beginnings. */
const isFuzzy = (term) => term.length >= MIN_FUZZY_LENGTH && !/\d/.test(term);
const isPrefix = (term) => term.length >= MIN_PREFIX_LENGTH && !/^\d+$/.test(term);

const alternativesOf = (word, isLast) => {
  const term = word.toLowerCase();
  const stem = stemmer(term);
  const others = [...(SYNONYMS[term] ?? []), ...(SYNONYMS[stem] ?? [])];
  const parts = partsOf(word);
  const alternative = (text, weight, options) => ({
    queries: [text],
    boostTerm: () => weight,
    ...options,
  });
  return {
    combineWith: 'OR',
    queries: [
      alternative(term, WEIGHTS.word, {
        prefix: isLast && isPrefix(term),
        fuzzy: isFuzzy(term) && FUZZINESS,
      }),
      ...(stem === term ? [] : [alternative(stem, WEIGHTS.stem, { fuzzy: isFuzzy(stem) && FUZZINESS })]),
      ...others.map((other) => alternative(stemmer(other), WEIGHTS.synonym, {})),
      ...(parts.length > 1
        ? [
            {
              combineWith: 'AND',
              queries: parts.map((part) => alternative(stemmer(part.toLowerCase()), WEIGHTS.parts)),
            },
          ]
        : []),
    ],
  };
};

/** The anchor of an operation, schema or event; that of a section only repeats its heading. */
const nameIn = (address) => /#(.*[A-Z.].*)/.exec(address)?.[1] ?? '';

/** Finds entries with all words of a question or, if there are none, with some of them. */
export function finderOf(entries) {
  const engine = new MiniSearch({
    idField: 'n',
    fields: ['t', 'anchor', 'p', 'x', 'f'],
    storeFields: ['u', 't', 'p', 'x'],
    tokenize: (text, field) =>
      field === 'anchor' ? [text] : field === 'f' ? text.split(' ') : wordsOf(text),
    processTerm: formsOf,
    searchOptions: {
      boost: BOOST,
      weights: NEAR,
      boostDocument: (_n, _term, { u }) => weightOf(u),
      tokenize: (text) => [text],
      processTerm: (term) => term,
    },
  });
  engine.addAll(entries.map((entry, n) => ({ ...entry, n, anchor: nameIn(entry.u) })));
  return (question) => {
    const typed = question.match(WORD) ?? [];
    const telling = typed.filter((word) => !STOP_WORDS.has(word.toLowerCase()));
    const words = telling.length > 0 ? telling : typed;
    if (words.length === 0) {
      return [];
    }
    const queries = words.map((word, at) => alternativesOf(word, at === words.length - 1));
    const all = engine.search({ combineWith: 'AND', queries });
    const found = all.length > 0 ? all : engine.search({ combineWith: 'OR', queries });
    return found.slice(0, MAX_RESULTS);
  };
}
