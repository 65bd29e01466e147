export const kRate = 0.1;
