// What whoever publishes the site fills in. What is empty is left out.

export const kOwner = {
  /** Where the site is, with a slash at the end: previews in messengers need whole addresses of pictures. */
  site: "",
  repository: "",
  npm: "",
};
