import { ServiceError } from './service-error.js';

/** Servers name fields as in the proto files, `first_name`; the JSON that operators read has `firstName`. */
export function inJsonNames(error: ServiceError): ServiceError {
  const fieldViolations = error.fieldViolations.map(({ path, message }) => ({
    path: path.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    message,
  }));
  // Some sentences are made of the one violation that there is.
  const message = error.fieldViolations.reduce(
    (sentence, { path }, index) => sentence.replace(` ${path} `, ` ${fieldViolations[index]?.path} `),
    error.message,
  );
  return new ServiceError(error.code, message, { ...error, fieldViolations });
}
