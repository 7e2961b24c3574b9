import type { Contract } from '../contract.js';
import type { SampleBook } from './samples.js';

/** One of the two HTTP interfaces. */
export interface Api {
  name: 'gateway' | 'sign-on';
  title: string;
  /** The path of its first page. */
  path: string;
  /** The placeholder of its address. */
  url: '{{gatewayUrl}}' | '{{signOnUrl}}';
  contract: Contract;
  samples: SampleBook;
}
