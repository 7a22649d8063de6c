import { isJsonObject, type Json } from '../core/json.ts';
import { MASK, maskJson } from '../core/preview.ts';

/**
 * Arguments as a person edited them, who was shown `original` with its secrets masked. Texts that were left masked get their secret
 * back; a mask that was moved or written is nobody's secret. Throws what `wrong` makes of a text that holds part of one.
 */
export function unmask(edited: Json, original: Json, wrong: (message: string) => Error): Json {
  return restore(edited, maskJson(original), original, wrong);
}

function restore(edited: Json, masked: Json | undefined, original: Json | undefined, wrong: (message: string) => Error): Json {
  if (typeof edited === 'string') {
    if (edited === masked && typeof original === 'string') return original;
    if (edited.includes(MASK) && typeof masked === 'string' && masked.includes(MASK) && masked !== original)
      throw wrong(`${MASK} stands for a secret that is not shown. Leave that text as it was, or write all of it.`);
    return edited;
  }
  if (Array.isArray(edited)) {
    const [maskedItems, items] = [Array.isArray(masked) ? masked : [], Array.isArray(original) ? original : []];
    // With an item more or less, which secret a mask stands for could only be guessed.
    if (edited.length !== items.length && JSON.stringify(edited).includes(MASK) && JSON.stringify(maskedItems).includes(MASK))
      throw wrong(`${MASK} stands for a secret that is not shown. Leave the list as long as it was, or write its secrets out.`);
    return edited.map((item, index) => restore(item, maskedItems[index], items[index], wrong));
  }
  if (!isJsonObject(edited)) return edited;
  const at = (value: Json | undefined, key: string) => (isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined);
  return Object.fromEntries(Object.entries(edited).map(([key, item]) => [key, restore(item, at(masked, key), at(original, key), wrong)]));
}
