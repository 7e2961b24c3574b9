const { GOCACHE } = process.env;

/**
 * The environment of all that tests build with Go, because Go compiles its library anew for other flags:
 * without the paths of folders, without C, and in the cache of the run if it names one.
 */
export const GO_BUILDS: Readonly<Record<string, string>> = {
  ...(GOCACHE ? { GOCACHE } : {}),
  CGO_ENABLED: '0',
  GOFLAGS: '-modcacherw -trimpath -buildvcs=false -ldflags=-w -p=2',
  GOTOOLCHAIN: 'local',
};
