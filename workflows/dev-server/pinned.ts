/** Newer CLI versions have replace directives in their go.mod and cannot be built by `go install`. */
export const TEMPORAL_VERSION = '1.5.1';

export const TEMPORAL_MODULE = 'github.com/temporalio/cli/cmd/temporal';
export const leastGoVersion = { major: 1, minor: 25 };

/** Redirects to the archive of a platform: `<base>/v<version>?platform=linux&arch=amd64`. */
export const DOWNLOAD_BASE_URL = 'https://temporal.download/cli/archive';

/** The largest size of module and build cache, with room for the result. */
export const GO_BUILD_NEEDS_BYTES = 4 * 1024 ** 3;
export const DOWNLOAD_NEEDS_BYTES = 512 * 1024 ** 2;
