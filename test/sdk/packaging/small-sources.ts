import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Sources, textFile } from '../../../src/sdk/packaging/sources.js';

const PYPROJECT = `[project]
name = "integration-service-sdk"
description = "Says \\"hello\\" [twice]."
requires-python = ">=3.10"
# A remark.
classifiers = ["Typing :: Typed"]
dependencies = [
    "PyJWT[crypto]>=2.10,<3",
    "urllib3>=2.2",
]

[tool.mypy]
name = "other"
`;

/** Sources of packages that do next to nothing, in a folder that is given. */
export function smallSources(folder: string, version = '1.4.0'): Sources {
  const files: Record<string, string> = {
    'written/python/pyproject.toml': PYPROJECT,
    'written/python/README.md': '# Hello\n',
    'written/python/integration_service/__init__.py': 'from integration_gateway import name\n',
    'written/python/integration_service/py.typed': '',
    'written/python/integration_service/__pycache__/__init__.cpython-311.pyc': 'left out',
    'written/python/tests/test_it.py': 'left out',
    'written/go/go.mod': 'module integration.example.com/sdk\n\ngo 1.22\n',
    'written/go/README.md': '# Hello\n',
    'written/go/sdk.go': 'package sdk\n',
    'written/go/sdk_test.go': 'package left out\n',
    'generated/asyncapi/events.py': '',
    'generated/asyncapi/events.go': 'package sdk\n',
    'generated/sdk/python/gateway/integration_gateway/__init__.py': 'name = "gateway"\n',
    'generated/sdk/python/sign-on/integration_sign_on/__init__.py': '',
    'generated/sdk/python/reads/integration_service/models.py': '',
    'generated/sdk/go/gateway/client.go': 'package gateway\n',
    'generated/sdk/go/sign-on/client.go': 'package signon\n',
    'generated/sdk/go/reads/models.go': 'package sdk\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return {
    written: join(folder, 'written'),
    generated: join(folder, 'generated'),
    version,
    licence: textFile('LICENSE', 'Do as you like.\n'),
  };
}
