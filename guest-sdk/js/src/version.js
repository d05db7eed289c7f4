/** The SDK's version, which a component carries in its manifest. */
export const VERSION = "0.1.0";
