/** Newer CLI versions have replace directives in their go.mod and cannot be built by `go install`. */
export const temporalVersion = '1.5.1';

export const temporalModule = 'github.com/temporalio/cli/cmd/temporal';
export const leastGoVersion = { major: 1, minor: 25 };

/** Redirects to the archive of a platform: `<base>/v<version>?platform=linux&arch=amd64`. */
export const downloadBaseUrl = 'https://temporal.download/cli/archive';

/** The largest size of module and build cache, with room for the result. */
export const goBuildNeedsBytes = 4 * 1024 ** 3;
export const downloadNeedsBytes = 512 * 1024 ** 2;
