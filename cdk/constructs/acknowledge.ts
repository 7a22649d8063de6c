import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Why a finding of cdk-nag (AwsSolutions) is right as it is, next to what it is about. Keys are the ids of the report,
 * such as `AwsSolutions-IAM5[Resource::*]`.
 */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })));
}
