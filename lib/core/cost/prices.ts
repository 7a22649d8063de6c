import * as z from 'zod';

const usd = (value: number) => z.number().nonnegative().default(value);

/**
 * What AWS takes, USD: list prices of us-east-1 as of 2026, arm64, on demand, without free tiers and discounts. Another
 * region or an agreement of your own goes into the configuration (`aws_prices`); docs/cost.md says where each is published.
 */
export const awsPricesSchema = z.strictObject({
  /** A million state transitions of a Standard workflow. */
  transitions_per_million: usd(25),
  /** A GB-second of a Lambda on arm64. */
  lambda_gb_second: usd(0.0000133334),
  /** A million invocations. */
  lambda_requests_per_million: usd(0.2),
  /** A million read request units: 4 KB each, consistent. */
  dynamodb_reads_per_million: usd(0.125),
  /** A million write request units: 1 KB each. */
  dynamodb_writes_per_million: usd(0.625),
});
export type AwsPrices = z.infer<typeof awsPricesSchema>;
