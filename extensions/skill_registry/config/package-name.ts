/** `name` or `@scope/name`, by npm's rules for what is installed today; nothing that could leave node_modules. */
export const PACKAGE_NAME: RegExp = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
