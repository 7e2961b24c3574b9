import { newTemporaryDirectory } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';
import { describeGuides } from './describe-guides.js';
import { GoProject } from './go-project.js';

describeWith('go', 'the guides in Go', (go) => {
  describeGuides(() => new GoProject(go, newTemporaryDirectory()));
});
