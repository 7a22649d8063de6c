import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Stands for the SDK's chain of credential providers in the functions' bundles: Lambda puts the role's credentials into the
 * environment, so nothing else is ever asked, and profiles, SSO and instance metadata stay out (100 KB a function).
 */
export const defaultProvider = (): ReturnType<typeof fromEnv> => fromEnv();
