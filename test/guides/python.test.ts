import { newTemporaryDirectory } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';
import { describeGuides } from './describe-guides.js';
import { PythonProject } from './python-project.js';

describeWith('python', 'the guides in Python', (python) => {
  describeGuides(() => new PythonProject(python, newTemporaryDirectory()));
});
