/* Written by `tsalt-ssh types`: run it again after you change a module. */
import type { StateReturn, DataDict, GrainsOf, TypedFunction } from 'tsalt-ssh/module';

declare module 'tsalt-ssh/module' {
  interface SaltFunctions {
    /** Lists the products there are. */
    "cheese.list": TypedFunction<[], null, string>;
    /** Cuts a product into slices. */
    "cheese.slice": TypedFunction<[product: string], { count?: number }, string[], { product: string }>;
    /** Creates a resource that does not exist. */
    "my_cloud.my_resource.create": TypedFunction<[name: string], { size?: number; tags?: Record<string, string> }, Awaited<ReturnType<typeof import("./_modules/my_cloud/my_resource.ts").create>>, { name: string }>;
    /** Deletes a resource that exists. */
    "my_cloud.my_resource.delete": TypedFunction<[name: string], null, Awaited<ReturnType<typeof import("./_modules/my_cloud/my_resource.ts").delete_>>, { name: string }>;
    /** Describes one resource; an empty dictionary when there is none. */
    "my_cloud.my_resource.get": TypedFunction<[name: string], null, Awaited<ReturnType<typeof import("./_modules/my_cloud/my_resource.ts").get>>, { name: string }>;
    /** Describes all resources by name. */
    "my_cloud.my_resource.list": TypedFunction<[], null, Awaited<ReturnType<typeof import("./_modules/my_cloud/my_resource.ts").list_>>>;
    /** Changes a resource that exists; what is not given stays as it was. */
    "my_cloud.my_resource.update": TypedFunction<[name: string], { size?: number; tags?: Record<string, string> }, Awaited<ReturnType<typeof import("./_modules/my_cloud/my_resource.ts").update>>, { name: string }>;
    /** Brings a custom thing into a state and returns its new state. */
    "my_custom_module.change_state": TypedFunction<[name: string, state: string], null, string | null, { name: string; state: string }>;
    /** Returns the state of a custom thing; null if it does not exist. */
    "my_custom_module.current_state": TypedFunction<[name: string], null, string | null, { name: string }>;
  }

  interface StateFunctions {
    /** Sees to it that a product is cut, once per run. */
    "cheese.sliced": TypedFunction<[name: string], { count?: number }, StateReturn, { name: string }>;
    /** Delete the named my_cloud.my_resource if it exists. */
    "my_cloud.my_resource.absent": TypedFunction<[name: string], null, StateReturn, { name: string }>;
    /** Present states for every my_cloud.my_resource there is. */
    "my_cloud.my_resource.describe": TypedFunction<[], {  }, DataDict>;
    /** Create the named my_cloud.my_resource, or update it where it differs. */
    "my_cloud.my_resource.present": TypedFunction<[name: string], { size?: number; tags?: Record<string, string> }, StateReturn, { name: string }>;
    /** Enforce the state of a custom thing. */
    "my_custom_state.enforce_custom_thing": TypedFunction<[name: string], { foo: string; bar?: boolean }, StateReturn, { name: string }>;
  }

  interface UtilFunctions {
    /** Splits a text at white space and commas. */
    "text_tools.words": typeof import("./_utils/text_tools.ts").words;
  }

  interface Grains extends GrainsOf<typeof import("./_grains/roles.ts").roles> {}
}
