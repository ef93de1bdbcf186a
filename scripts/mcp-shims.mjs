/** In place of the SDK's own: the validator there is for answers to forms, which this server never asks for. */
import process from 'node:process';

export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error('This build has no validator of JSON schemas.');
  }
}
export { process };
