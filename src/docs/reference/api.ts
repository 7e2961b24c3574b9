import type { Contract } from '../contract.js';
import type { SampleBook } from './samples.js';

/** One of the two HTTP interfaces. */
export interface Api {
  name: 'gateway' | 'sign-on';
  /** What people call it. */
  title: string;
  /** Of its first page. */
  path: string;
  /** The place for its address. */
  url: '{{gatewayUrl}}' | '{{signOnUrl}}';
  contract: Contract;
  samples: SampleBook;
}
