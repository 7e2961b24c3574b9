import { describe, expect, test } from '@jest/globals';
import { describeWith } from '../../support/toolchains.js';
import { describeReceiver, type Receiver, saidAtStart, startReceiver } from './behaviour.js';
import { programOf, replaced, withLines } from './page-programs.js';
import { PythonServers } from './python-project.js';
import { delivery, postInChunks } from './requests.js';

type Files = Record<string, string>;

const changed = (files: Files, file: string, after: string, lines: string): Files => ({
  ...files,
  [file]: withLines(files[file] ?? '', after, lines),
});

const DJANGO_SETTINGS = `SECRET_KEY = "for-the-tests"
ROOT_URLCONF = "urls"
MIDDLEWARE = [
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]
ALLOWED_HOSTS = ["127.0.0.1"]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"]},
}
`;

/** The server of the standard library with the checks of runserver, which says it is ready too early. */
const DJANGO_SERVER = `import os
from wsgiref.simple_server import make_server

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
application = get_wsgi_application()
call_command("check")
server = make_server("127.0.0.1", int(os.environ["PORT"]), application)
print("listening")
server.serve_forever()
`;

const DJANGO_ASGI = `import os

from django.core.asgi import get_asgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
application = get_asgi_application()
`;

const ASYNC_STORE = `import asyncio


async def keep(event):
    await asyncio.sleep(0)
    print("kept", event.id, flush=True)


`;
const ASYNC_FUNCTIONS = {
  'an async def': `${ASYNC_STORE}store = keep\n`,
  'a lambda': `${ASYNC_STORE}store = lambda event: keep(event)\n`,
  'an object': `${ASYNC_STORE}class Store:
    async def __call__(self, event):
        await keep(event)


store = Store()
`,
};

const GENERATORS = {
  'a generator': 'def store(event):\n    yield event\n',
  'an async generator': 'async def store(event):\n    yield event\n',
};

const READING_MIDDLEWARE = `def reading(get_response):
    def middleware(request):
        request.read(1)
        return get_response(request)

    return middleware
`;

async function withReceiver(
  launch: Parameters<typeof startReceiver>[0],
  judge: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  const receiver = await startReceiver(launch);
  try {
    await judge(receiver);
  } finally {
    await receiver.program.stop();
  }
}

/** Of a view that does not await: an event that is answered 204 without being stored is lost. */
function describeRefusalOfAsync(servers: PythonServers): void {
  test.each(Object.entries(ASYNC_FUNCTIONS))(
    'answers 500 where the function is async, as %s, and the log says so',
    (_, store) =>
      withReceiver(
        (port) => servers.launchWith({ 'store.py': store }, port),
        async (receiver) => {
          expect((await receiver.post(delivery())).status).toBe(500);
          expect(await receiver.program.says('give it a plain def')).toMatch(
            /The function for events is async/,
          );
        },
      ),
  );
}

/** Calling one runs nothing. */
function describeRefusalOfGenerators(servers: PythonServers): void {
  test.each(Object.entries(GENERATORS))(
    'answers 500 where the function is %s, and the log says so',
    (_, store) =>
      withReceiver(
        (port) => servers.launchWith({ 'store.py': store }, port),
        async (receiver) => {
          expect((await receiver.post(delivery())).status).toBe(500);
          await receiver.program.says('The function for events is a generator');
        },
      ),
  );
}

describeWith('python', 'the views of the SDK in Python', (python) => {
  describe('for FastAPI', () => {
    const servers = new PythonServers(python, {
      file: 'fastapi_server.py',
      module: 'integration_service.receivers.fastapi',
      readBefore: (files) =>
        changed(
          files,
          'fastapi_server.py',
          'app = FastAPI()',
          `@app.middleware("http")
async def reading(request, call_next):
    async for _ in request.stream():
        pass
    return await call_next(request)
`,
        ),
      args: (port) => ['-m', 'uvicorn', 'fastapi_server:app', '--port', String(port)],
      ready: 'Uvicorn running',
    });
    describeReceiver({
      install: () => servers.install(),
      launch: (variant, port) => servers.launch(variant, port),
      advice: /nothing may read request\.stream\(\) or a form before/,
    });

    describeRefusalOfGenerators(servers);

    test.each(Object.entries(ASYNC_FUNCTIONS))('await a function that is async, as %s', (_, store) =>
      withReceiver(
        (port) => servers.launchWith({ 'store.py': store }, port),
        async (receiver) => {
          const sent = delivery();
          expect((await receiver.post(sent)).status).toBe(204);
          const kept = `kept ${sent.headers['webhook-id']}`;
          expect(await receiver.program.says(kept)).toContain(kept);
        },
      ),
    );

    test('are typed, strictly', async () => {
      expect(await servers.types()).toEqual([
        expect.stringMatching(/^Success/),
        expect.stringMatching(/^Success/),
      ]);
    });
  });

  describe('for Flask', () => {
    const servers = new PythonServers(python, {
      file: 'flask_server.py',
      module: 'integration_service.receivers.flask',
      readBefore: (files) =>
        changed(
          files,
          'flask_server.py',
          'app = Flask(__name__)',
          `from flask import request
app.before_request(lambda: request.stream.read() and None)
`,
        ),
      args: (port) => ['-m', 'flask', '--app', 'flask_server', 'run', '--port', String(port)],
      ready: 'Running on',
    });
    describeReceiver({
      install: () => servers.install(),
      launch: (variant, port) => servers.launch(variant, port),
      takesChunks: false,
      advice: /nothing may read request\.stream before/,
    });
    describeRefusalOfAsync(servers);
    describeRefusalOfGenerators(servers);

    test.each(['tolerance_seconds', 'max_bytes'])('do not start where %s is not a number', async (name) => {
      const view = 'receive_webhooks(secrets, store';
      const code = replaced(programOf('flask_server.py'), view, `${view}, ${name}=float("nan")`);
      const said = await saidAtStart((port) => servers.launchWith({ 'flask_server.py': code }, port));
      expect(said).toMatch(`${name} must be a number`);
    });

    test('are typed, strictly', async () => {
      expect(await servers.types()).toEqual([
        expect.stringMatching(/^Success/),
        expect.stringMatching(/^Success/),
      ]);
    });
  });

  describe('for Django', () => {
    const servers = new PythonServers(python, {
      file: 'urls.py',
      module: 'integration_service.receivers.django',
      others: {
        'settings.py': DJANGO_SETTINGS,
        'server.py': DJANGO_SERVER,
        'reading.py': READING_MIDDLEWARE,
      },
      readBefore: (files) => changed(files, 'settings.py', 'MIDDLEWARE = [', '    "reading.reading",'),
      args: () => ['server.py'],
      ready: 'listening',
    });
    describeReceiver({
      install: () => servers.install(),
      launch: (variant, port) => servers.launch(variant, port),
      takesChunks: false,
      advice: /no middleware may call request\.read\(\) before/,
    });
    describeRefusalOfAsync(servers);
    describeRefusalOfGenerators(servers);

    test('answer 413 under ASGI to a long body without a length, beyond the limit of Django too', () => {
      const asgi = {
        args: (port: number) => ['-m', 'uvicorn', 'asgi:application', '--port', String(port)],
        ready: 'Uvicorn running',
      };
      return withReceiver(
        (port) => servers.launchWith({ 'asgi.py': DJANGO_ASGI }, port, asgi),
        async (receiver) => {
          expect((await postInChunks(receiver.url, delivery({ paddingBytes: 1_200_000 }))).status).toBe(204);
          for (const paddingBytes of [3 * 2 ** 20, 5 * 2 ** 20]) {
            expect((await postInChunks(receiver.url, delivery({ paddingBytes }))).status).toBe(413);
          }
        },
      );
    });

    test('are typed, strictly', async () => {
      expect(await servers.types()).toEqual([
        expect.stringMatching(/^Success/),
        expect.stringMatching(/^Success/),
      ]);
    });
  });
});
