import { describe } from '@jest/globals';
import { newTemporaryDirectory } from '../support/temporary-directory.js';
import { describeGuides } from './describe-guides.js';
import { TypeScriptProject } from './typescript-project.js';

describe('the guides in TypeScript', () => {
  describeGuides(() => new TypeScriptProject(newTemporaryDirectory()));
});
