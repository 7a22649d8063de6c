import type * as Bedrock from '@aws-sdk/client-bedrock';

/** `unknown`: a kind of model that nobody can be asked about beforehand. */
export interface ModelAccess {
  readonly state: 'usable' | 'refused' | 'unknown';
  readonly why: string;
}

/** `<geography>.<provider>.<model>`: an inference profile of AWS's own; access is to the models behind it. */
const PROFILE = /^(?:global|us|us-gov|eu|apac|au|ca|jp|sa)\.(?=[a-z0-9-]+\.)/;
const ARN = /^arn:[a-z-]+:bedrock:[a-z0-9-]*:\d*:([a-z-]+)\/(.+)$/;

const usable: ModelAccess = { state: 'usable', why: '' };
const refused = (why: string): ModelAccess => ({ state: 'refused', why });

/** Whether an account may use what `model` names: a foundation model, an inference profile, or the ARN of one or of a model of its own. */
export async function modelAccess(sdk: typeof Bedrock, client: Bedrock.BedrockClient, model: string): Promise<ModelAccess> {
  const [, kind = PROFILE.test(model) ? 'inference-profile' : 'foundation-model', name = model] = ARN.exec(model) ?? [];
  try {
    switch (kind) {
      case 'foundation-model':
        return await foundationAccess(sdk, client, name);
      case 'inference-profile':
      case 'application-inference-profile':
        return await profileAccess(sdk, client, model);
      case 'provisioned-model': {
        const { status } = await client.send(new sdk.GetProvisionedModelThroughputCommand({ provisionedModelId: model }));
        return status === 'InService' || status === 'Updating' ? usable : refused(`its throughput is ${status}`);
      }
      case 'custom-model-deployment': {
        const { status } = await client.send(new sdk.GetCustomModelDeploymentCommand({ customModelDeploymentIdentifier: model }));
        return status === 'Active' ? usable : refused(`its deployment is ${status}`);
      }
      case 'imported-model':
        await client.send(new sdk.GetImportedModelCommand({ modelIdentifier: model }));
        return usable;
      default:
        return { state: 'unknown', why: `access to a ${kind} is not checked` };
    }
  } catch (error) {
    if (error instanceof sdk.ResourceNotFoundException) return refused(`there is no such ${kind} in this account and region`);
    throw error;
  }
}

async function profileAccess(sdk: typeof Bedrock, client: Bedrock.BedrockClient, profile: string): Promise<ModelAccess> {
  const { status, models = [] } = await client.send(new sdk.GetInferenceProfileCommand({ inferenceProfileIdentifier: profile }));
  if (status !== 'ACTIVE') return refused(`the inference profile is ${status}`);
  const behind = new Set(models.flatMap(({ modelArn = '' }) => ARN.exec(modelArn)?.[2] ?? []));
  for (const name of behind) {
    const access = await foundationAccess(sdk, client, name);
    if (access.state !== 'usable') return refused(`${name} behind it: ${access.why}`);
  }
  return usable;
}

async function foundationAccess(sdk: typeof Bedrock, client: Bedrock.BedrockClient, modelId: string): Promise<ModelAccess> {
  const answer = await client.send(new sdk.GetFoundationModelAvailabilityCommand({ modelId }));
  const agreement = answer.agreementAvailability?.status;
  const reasons = [
    answer.regionAvailability === 'AVAILABLE' ? '' : 'not offered in this region',
    answer.authorizationStatus === 'AUTHORIZED' ? '' : 'these credentials may not use it',
    answer.entitlementAvailability === 'AVAILABLE' ? '' : 'the account has no access to it',
    agreement === 'AVAILABLE' ? '' : `its agreement is ${agreement ?? 'missing'}`,
  ].filter((reason) => reason !== '');
  return reasons.length === 0 ? usable : refused(reasons.join(', '));
}
